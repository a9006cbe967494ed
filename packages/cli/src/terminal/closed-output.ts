/**
 * Stops the process as SIGTERM does when the reader of its output, such as `head`, goes away: without this, Node would print a stack. Commands that run on stop in order.
 */
export function stopWhenOutputCloses(): void {
  let isClosed = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    if (!isClosed) process.kill(process.pid, "SIGTERM");
    isClosed = true;
  });
}
