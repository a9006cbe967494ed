/**
 * A devcluster in a process of its own, for devcluster.ts: prints its address as JSON, and sends the counts of its requests for every message. Ends with its
 * parent.
 */
import { createApiServer } from "@millwright/devcluster";
import { createRequestCounter } from "../measure/request-counts.ts";

process.once("disconnect", () => process.exit());
// Ctrl-C in a terminal reaches the whole group: the parent ends this process last.
process.on("SIGINT", () => {});

// It records the latest requests only, so this must be more than a scenario has.
const server = createApiServer({ requestLogLimit: 1_000_000 });
process.on("message", () => {
  const counter = createRequestCounter();
  for (const { userAgent, verb, resource, subresource } of server.requests) {
    counter.add({ agent: userAgent, verb, resource: subresource === "" ? resource : `${resource}/${subresource}` });
  }
  process.send?.(counter.counts());
});
const { url } = await server.listen();
process.send?.({ url });
