/** Processor time that this thread has used, milliseconds: others that use the computer do not count. */
export function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
