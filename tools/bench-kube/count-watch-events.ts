/**
 * Opens watches and counts the events that each of them gets: `count-watch-events.ts URL COUNT`. Prints a line when all are
 * open, and on each line of its input the counts so far, as JSON.
 */
import { get } from "node:http";
import { createInterface } from "node:readline";

const [, , url = "", count = "1"] = process.argv;
const counts = Array.from({ length: Number(count) }, () => 0);

await Promise.all(
  counts.map(
    (_, watcher) =>
      new Promise<void>((resolve, reject) => {
        get(url, { agent: false }, (response) => {
          response.on("data", (chunk: Buffer) => {
            // Events are lines, and no line feed stands inside of one.
            let seen = 0;
            for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen += 1;
            counts[watcher] = (counts[watcher] ?? 0) + seen;
          });
          resolve();
        }).on("error", reject);
      }),
  ),
);
process.stdout.write("open\n");
for await (const _line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(counts)}\n`);
process.exit(0);
