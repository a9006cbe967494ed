import {
  type CoreV1Api,
  CoreV1Api as CoreApi,
  KubeConfig,
  makeInformer,
  type V1ConfigMap,
} from "@kubernetes/client-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startWorkingCluster, type WorkingCluster } from "../harness/working-cluster.ts";

const namespace = "default";
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** client-node stops its informer at the first error, and its README has users restart it: so do these tests. */
describe("an informer of client-node", () => {
  let cluster: WorkingCluster;
  let core: CoreV1Api;
  let stop: () => Promise<void>;
  const seen: string[] = [];
  const errors: unknown[] = [];

  beforeEach(async () => {
    cluster = await startWorkingCluster("a");
    const config = new KubeConfig();
    config.loadFromFile(cluster.kubeconfig);
    core = config.makeApiClient(CoreApi);
    const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
      core.listNamespacedConfigMap({ namespace }),
    );
    seen.length = 0;
    errors.length = 0;
    const note = (kind: string) => (object: V1ConfigMap) =>
      void seen.push(`${kind} ${object.metadata?.name} ${object.data?.["note"]}`);
    informer.on("add", note("add"));
    informer.on("update", note("update"));
    informer.on("delete", note("delete"));
    const again = new AbortController();
    const goOn = async (): Promise<void> => {
      while (!again.signal.aborted) {
        await pause(200);
        try {
          await informer.start();
          return;
        } catch (error) {
          errors.push(error);
        }
      }
    };
    let going = Promise.resolve();
    informer.on("error", (error: unknown) => {
      errors.push(error);
      going = goOn();
    });
    await informer.start();
    stop = async () => {
      again.abort();
      await going;
      await informer.stop();
    };
  });
  afterEach(async () => {
    await stop();
    await cluster.close();
  });

  const write = async (name: string, note: string): Promise<void> => {
    await eventually(() => core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { note } } }));
  };
  const sees = (line: string): Promise<void> => eventually(async () => expect(seen).toContain(line));

  it("receives changes made while the server was down", async () => {
    await write("before", "1");
    await write("doomed", "1");
    await sees("add before 1");
    await sees("add doomed 1");
    const fault = cluster.server.faults.add({
      match: { verbs: ["watch"], resources: ["configmaps"] },
      effect: { kind: "partition" },
    });
    await cluster.server.restart({ keepData: true, downMs: 300 });
    await eventually(() => core.deleteNamespacedConfigMap({ namespace, name: "doomed" }));
    await write("after", "1");
    fault.remove();
    await sees("add after 1");
    await sees("delete doomed 1");
    expect(errors.length).toBeGreaterThan(0);
    expect(seen.filter((line) => line.includes("before"))).toEqual(["add before 1"]);
  });

  it("lists again after 410, and misses nothing", async () => {
    await write("old", "1");
    await sees("add old 1");
    cluster.server.faults.add({
      match: { verbs: ["watch"], resources: ["configmaps"] },
      effect: { kind: "watch-error", code: 410 },
      times: 1,
    });
    await write("one", "1");
    await sees("add one 1");
    // The history is compacted while the watch is down: it must not resume.
    const fault = cluster.server.faults.add({
      match: { verbs: ["watch"], resources: ["configmaps"] },
      effect: { kind: "partition" },
    });
    await write("two", "1");
    await core.deleteNamespacedConfigMap({ namespace, name: "one" });
    cluster.server.compactHistory();
    fault.remove();
    await sees("add two 1");
    await sees("delete one 1");
    await write("three", "1");
    await sees("add three 1");
    expect(seen.filter((line) => line.includes("old"))).toEqual(["add old 1"]);
  });
});
