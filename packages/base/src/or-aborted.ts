/**
 * The outcome of work that does not look at a signal itself, as an SDK while it gets credentials: left alone as soon as the signal aborts. Rejects with the signal's reason then, whatever becomes
 * of the work. Without a signal it is the work itself.
 */
export async function orAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  let leave = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
