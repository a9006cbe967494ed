/** Repeats a check until it passes. After the timeout it fails with the last error. The timeout only catches hangs: a busy computer is slow. */
export async function eventually<T>(check: () => Promise<T>, timeoutMs = 120_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
