/**
 * A process with a cache that uses up and releases its file descriptors, for api-server-descriptors.test.ts. Commands on
 * stdin: exhaust, release, report (the objects in its cache), list. It prints the result of each.
 */
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { createApiClient, isApiError } from "@millwright/kube";
import { configMaps, startCache } from "./cache-under-test.ts";

const [server = ""] = process.argv.slice(2);
const cache = startCache(server);
const api = createApiClient({ server });
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const taken: number[] = [];

/** Opens files until the limit is reached. */
function exhaust(): string {
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "";
  }
}
let hoarding: NodeJS.Timeout | undefined;

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "exhaust") {
    print(`exhausted ${exhaust()}`);
    hoarding = setInterval(exhaust, 1);
  } else if (line === "release") {
    clearInterval(hoarding);
    for (const descriptor of taken.splice(0)) closeSync(descriptor);
    print("released");
  } else if (line === "report") {
    print(`has ${cache.names().join(",")}`);
    print(`failures ${cache.informer.counts().failures}`);
  } else if (line === "list") {
    api.list(configMaps).then(
      ({ items }) => print(`listed ${items.length}`),
      (error: unknown) => print(isApiError(error) ? `failed ${error.reason}` : `threw ${String(error)}`),
    );
  }
});
process.on("uncaughtException", (error) => print(`uncaught ${String(error)}`));
await cache.informer.synced();
print("synced");
