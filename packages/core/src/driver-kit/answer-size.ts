/** Maximum size of a response in bytes: a page of 1000 VMs has about 10 MB. Larger responses could exhaust the memory. */
export const mostAnswerBytes: number = 64 * 2 ** 20;

const errorName = "AnswerTooLong";

/** Whether an error is that of {@link answerTooLong}, also when an SDK has wrapped it. */
export const isAnswerTooLong = (error: unknown): boolean => error instanceof Error && error.name === errorName;

/** The error for a response of this size; undefined while it is within the limit. */
export function answerTooLong(bytes: number): Error | undefined {
  if (bytes <= mostAnswerBytes) return undefined;
  return Object.assign(new Error(`a response has more than ${mostAnswerBytes} bytes`), { name: errorName });
}

/**
 * Reads the body of a response of `fetch` as UTF-8; null is empty.
 *
 * @throws Error for which {@link isAnswerTooLong} is true, as soon as the body is too long
 */
export async function readAnswer(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    const tooLong = answerTooLong(bytes);
    if (tooLong !== undefined) throw tooLong;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
