/**
 * Ends the process quietly when the reader of its output, such as `head`, goes away: without this, Node would print a stack. A command that runs on gets SIGTERM and stops in order; others, which do
 * not listen for it, end by themselves with their own status.
 */
export function stopWhenOutputCloses(): void {
  let isStopping = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    if (isStopping || process.listenerCount("SIGTERM") === 0) return;
    isStopping = true;
    process.kill(process.pid, "SIGTERM");
  });
}
