/**
 * One measurement of kube.ts in a process of its own: `kube-process.ts requests`, or `kube-process.ts streamed|pages|manager` for caches. Prints
 * what it found as one line of JSON. Begins as `millwright run` does, with `keepHeapSmall`.
 */
import { keepHeapSmall } from "@millwright/kube";

keepHeapSmall();

const { measureCaches, measureRequests } = await import("./kube-measure.ts");
const [, , part = ""] = process.argv;
const found =
  part === "requests"
    ? await measureRequests()
    : part === "streamed" || part === "pages" || part === "manager"
      ? await measureCaches(part)
      : undefined;
if (found === undefined) throw new Error(`unknown: ${part}; there are requests, streamed, pages, manager`);
process.stdout.write(`${JSON.stringify(found)}\n`);
