/** How many bytes one answer of a cloud may have: a page of 1000 VMs has about 10 MB. More than this is no answer, and would end the process. */
export const mostAnswerBytes: number = 64 * 2 ** 20;

const errorName = "AnswerTooLong";

/** Whether an error is that of an answer that is too long, whatever an SDK has added to it. */
export const isAnswerTooLong = (error: unknown): boolean => error instanceof Error && error.name === errorName;

/** The error of an answer of which so many bytes have come; undefined as long as it may go on. */
export function answerTooLong(bytes: number): Error | undefined {
  if (bytes <= mostAnswerBytes) return undefined;
  return Object.assign(new Error(`an answer has more than ${mostAnswerBytes} bytes`), { name: errorName });
}

/**
 * Reads the body of an answer of `fetch`, as UTF-8; null has no text.
 *
 * @throws Error of which {@link isAnswerTooLong} knows, as soon as it is too long; the rest is not read then
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
