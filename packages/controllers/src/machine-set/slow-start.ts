/** The largest batch. A client sends its requests in order: those for the machines of an earlier batch would wait for all of a larger one. */
const maxBatch = 16;

/**
 * Runs `count` equal calls in batches of 1, 2, 4, 8, 16, 16 … and stops after the first batch in which one fails: a call that cannot succeed is made
 * once and not a hundred times. Throws the first error, after its batch has ended.
 */
export async function slowStart(count: number, call: () => Promise<void>): Promise<void> {
  for (let size = 1, left = count; left > 0; size = Math.min(2 * size, maxBatch)) {
    const batch = Math.min(size, left);
    const outcomes = await Promise.allSettled(Array.from({ length: batch }, call));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    left -= batch;
  }
}
