import { systemClock, systemRandom } from "@millwright/base";
import { expect, test } from "vitest";
import { nodeResource } from "../objects/built-in-resources.ts";
import { serve } from "../testing/served-client.ts";
import { createInformer } from "./informer.ts";

/** 18 KB of brackets, with a key that would change a prototype: more than the stack takes by recursion. */
const depth = 9_000;
const deep = `${'{"a":'.repeat(depth)}{"__proto__":{"polluted":true}}${"}".repeat(depth)}`;

const node = (name: string, version: number, more = ""): string =>
  `{"kind":"Node","apiVersion":"v1","metadata":{"name":"${name}","uid":"${name}","resourceVersion":"${version}"}${more}}`;

test.each([true, false])("an object of any depth stops no cache, with a streamed list: %s", async (streamingList) => {
  const logged: unknown[] = [];
  const bookmark = `{"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"3","annotations":{"k8s.io/initial-events-end":"true"}}}}`;
  const added = (object: string): string => `{"type":"ADDED","object":${object}}`;
  const later = added(node("later", 5));
  const { api } = await serve((request, response) => {
    const query = new URL(request.url ?? "", "http://localhost").searchParams;
    response.writeHead(200, { "content-type": "application/json" });
    const first = [node("good", 1), node("deep", 2, `,"spec":${deep}`)];
    if (query.get("watch") !== "true" && query.get("watch") !== "1") {
      response.end(
        `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[${first.join(",")}]}`,
      );
      return;
    }
    const initial = query.get("sendInitialEvents") === "true" ? [...first.map(added), bookmark] : [];
    response.write(`${[...initial, added(node("deep2", 4, `,"status":${deep}`)), later].join("\n")}\n`);
  });
  const informer = createInformer({
    api,
    type: nodeResource,
    clock: systemClock,
    random: systemRandom,
    streamingList,
    log: (level, message) => logged.push([level, message]),
  });
  const stop = new AbortController();
  const ended = informer.run(stop.signal);
  const names = (): readonly string[] =>
    informer.store
      .list()
      .map(({ metadata }) => metadata.name ?? "")
      .toSorted();
  await expect.poll(names).toEqual(["deep", "deep2", "good", "later"]);
  expect(informer.counts()).toMatchObject({ failures: 0, malformed: 0 });
  expect(logged.filter((line) => String(line).includes("Failed to read an object"))).toHaveLength(2);
  expect(Object.prototype).not.toHaveProperty("polluted");
  stop.abort(new Error("the test ends"));
  await ended;
});
