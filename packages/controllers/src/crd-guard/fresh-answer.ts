/**
 * Lets many callers share one question without any of them getting an answer older than its own call: whoever comes while a question is under way waits for the next one, together
 * with all others who came meanwhile.
 */
export function shareFresh(ask: () => Promise<void>): () => Promise<void> {
  // Invariant: `next` is there only while `current` is, and begins when that has ended.
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    const question = ask().finally(() => {
      if (current === question) current = undefined;
    });
    current = question;
    return question;
  };
  const again = (): Promise<void> => {
    next = undefined;
    return begin();
  };
  return () => {
    if (current === undefined) return begin();
    next ??= current.then(again, again);
    return next;
  };
}
