/**
 * Lets concurrent callers share one request without any of them getting a response older than its own call: a caller that comes while a request is in flight waits for the next one,
 * together with all others that came meanwhile.
 */
export function shareFresh(request: () => Promise<void>): () => Promise<void> {
  // Invariant: `next` is set only while `current` is, and begins when that has ended.
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    const begun = request().finally(() => {
      if (current === begun) current = undefined;
    });
    current = begun;
    return begun;
  };
  return () => {
    if (current === undefined) return begin();
    next ??= current.then(begin, begin);
    return next;
  };
}
