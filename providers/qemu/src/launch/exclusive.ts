/** The last call about each folder. */
const lastCalls = new Map<string, Promise<void>>();

/**
 * Runs calls of this process about one folder one after another. Calls of other processes are excluded by what is atomic: the name of a folder, and the lock on the pid of a QEMU process.
 *
 * @throws the reason of the signal if it aborts before the call starts; what the call throws
 */
export async function runExclusively<T>(folder: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  const before = lastCalls.get(folder) ?? Promise.resolve();
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  const last = before.then(() => done);
  lastCalls.set(folder, last);
  void forget(folder, last);
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    await Promise.race([before, aborted.promise]);
    return await call();
  } finally {
    signal.removeEventListener("abort", onAbort);
    finish();
  }
}

/** Forgets a call that has ended, unless another one follows. */
async function forget(folder: string, call: Promise<void>): Promise<void> {
  await call;
  if (lastCalls.get(folder) === call) lastCalls.delete(folder);
}
