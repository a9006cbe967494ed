import { fileURLToPath } from "node:url";
import {
  type CoreV1Api,
  CoreV1Api as CoreApi,
  KubeConfig,
  makeInformer,
  type V1ConfigMap,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createHelm, createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { type Installation, startInstallation } from "../harness/installation.ts";

const chart = fileURLToPath(new URL("testdata/chart", import.meta.url));

describe("third-party clients of the devcluster", () => {
  let installation: Installation;
  let kubectl: ForeignTool;

  beforeAll(async () => {
    installation = await startInstallation();
    kubectl = await createKubectl(installation.kubeconfig);
  });
  afterAll(() => installation.close());

  describe("Helm 4", () => {
    let helm: ForeignTool;
    beforeAll(async () => {
      helm = await createHelm(installation.kubeconfig);
    });

    it("installs a chart with built-in objects and a custom resource", async () => {
      expect(await helm(["install", "blue", chart])).toContain("STATUS: deployed");
      expect(await kubectl(["get", "machinedeployment", "blue", "-o", "jsonpath={.spec.replicas}"])).toBe("1");
      expect(await kubectl(["get", "secret", "blue-secret", "-o", "jsonpath={.data.userData}"])).toBe(
        Buffer.from("boot").toString("base64"),
      );
    });

    it("upgrades it, and changes only what the values change", async () => {
      const uid = await kubectl(["get", "machinedeployment", "blue", "-o", "jsonpath={.metadata.uid}"]);
      await helm(["upgrade", "blue", chart, "--set", "replicas=3,note=second"]);
      expect(
        await kubectl(["get", "machinedeployment", "blue", "-o", "jsonpath={.spec.replicas} {.metadata.uid}"]),
      ).toBe(`3 ${uid}`);
      expect(await kubectl(["get", "configmap", "blue-note", "-o", "jsonpath={.data.note}"])).toBe("second");
      expect(JSON.parse(await helm(["list", "-o", "json"]))).toMatchObject([
        { name: "blue", revision: "2", status: "deployed" },
      ]);
    });

    it("rolls it back and uninstalls it", async () => {
      await helm(["rollback", "blue", "1"]);
      expect(await kubectl(["get", "configmap", "blue-note", "-o", "jsonpath={.data.note}"])).toBe("first");
      expect(await helm(["uninstall", "blue"])).toContain('release "blue" uninstalled');
      expect(await kubectl(["get", "machinedeployments,configmaps", "-o", "name"])).not.toContain("blue");
    });
  });

  it("keeps an informer of client-node up to date", async () => {
    const config = new KubeConfig();
    config.loadFromFile(installation.kubeconfig);
    const core: CoreV1Api = config.makeApiClient(CoreApi);
    const informer = makeInformer(config, "/api/v1/namespaces/default/configmaps", () =>
      core.listNamespacedConfigMap({ namespace: "default" }),
    );
    const seen: string[] = [];
    const note = (kind: string) => (object: V1ConfigMap) =>
      void seen.push(`${kind} ${object.metadata?.name} ${object.data?.["note"]}`);
    informer.on("add", note("add"));
    informer.on("update", note("update"));
    informer.on("delete", note("delete"));
    await informer.start();
    await core.createNamespacedConfigMap({
      namespace: "default",
      body: { metadata: { name: "watched" }, data: { note: "one" } },
    });
    await eventually(async () => expect(seen).toContain("add watched one"));
    const body = { metadata: { name: "watched" }, data: { note: "two" } };
    await core.replaceNamespacedConfigMap({ name: "watched", namespace: "default", body });
    await eventually(async () => expect(seen).toContain("update watched two"));
    await core.deleteNamespacedConfigMap({ name: "watched", namespace: "default" });
    await eventually(async () => expect(seen).toContain("delete watched two"));
    expect(informer.get("watched", "default")).toBeUndefined();
    await informer.stop();
  });

  describe("kubectl 1.35", () => {
    it("explains our fields and lists our kinds", async () => {
      expect(await kubectl(["explain", "machinedeployment.spec.strategy.rollingUpdate"])).toMatch(
        /maxSurge.*<IntOrString>|maxSurge\s+</,
      );
      const kinds = await kubectl(["api-resources", "--api-group=machine.sapcloud.io", "--no-headers"]);
      expect(
        kinds
          .trim()
          .split("\n")
          .map((line) => line.split(/\s+/).slice(0, 2)),
      ).toEqual([
        ["machineclasses", "mcc"],
        ["machinedeployments", "mcd"],
        ["machines", "mc"],
        ["machinesets", "mcs"],
      ]);
    });

    it("labels, annotates, edits by patch, diffs and replaces", async () => {
      await kubectl(["create", "configmap", "work", "--from-literal=a=1"]);
      await kubectl(["label", "configmap", "work", "team=blue"]);
      await kubectl(["annotate", "configmap", "work", "why=test"]);
      await kubectl(["patch", "configmap", "work", "--type=json", "-p", '[{"op":"add","path":"/data/b","value":"2"}]']);
      expect(await kubectl(["get", "configmap", "-l", "team=blue", "-o", "jsonpath={.items[0].data}"])).toBe(
        '{"a":"1","b":"2"}',
      );
      const live = JSON.parse(await kubectl(["get", "configmap", "work", "-o", "json"])) as {
        data: Record<string, string>;
      };
      const changed = JSON.stringify({ ...live, data: { a: "3" } });
      const diff = await kubectl.attempt(["diff", "-f", "-"], changed);
      expect(diff).toMatchObject({ code: 1, stdout: expect.stringMatching(/-\s+a: "1"\n\+\s+a: "3"/) });
      await kubectl(["replace", "-f", "-"], changed);
      expect(await kubectl(["get", "configmap", "work", "-o", "jsonpath={.data}"])).toBe('{"a":"3"}');
      const stale = await kubectl.attempt(["replace", "-f", "-"], changed);
      expect(stale.stderr).toContain("the object has been modified; please apply your changes to the latest version");
    });

    it("respects field managers in server-side apply, and shows the owners", async () => {
      const manifest = (value: string): string =>
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owned"},"data":{"key":"${value}"}}`;
      await kubectl(["apply", "--server-side", "--field-manager=first", "-f", "-"], manifest("1"));
      const conflict = await kubectl.attempt(
        ["apply", "--server-side", "--field-manager=second", "-f", "-"],
        manifest("2"),
      );
      expect(conflict.code).not.toBe(0);
      expect(conflict.stderr).toContain('conflict with "first"');
      await kubectl(
        ["apply", "--server-side", "--field-manager=second", "--force-conflicts", "-f", "-"],
        manifest("2"),
      );
      expect(await kubectl(["get", "configmap", "owned", "-o", "jsonpath={.data.key}"])).toBe("2");
    });

    it("waits for a deletion that a finalizer blocks", async () => {
      await kubectl(["create", "configmap", "held"]);
      await kubectl(["patch", "configmap", "held", "-p", '{"metadata":{"finalizers":["example.com/hold"]}}']);
      await kubectl(["delete", "configmap", "held", "--wait=false"]);
      const early = await kubectl.attempt(["wait", "--for=delete", "configmap/held", "--timeout=1s"]);
      expect(early.stderr).toContain("timed out");
      const waiting = kubectl(["wait", "--for=delete", "configmap/held", "--timeout=60s"]);
      await kubectl(["patch", "configmap", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
      await waiting;
    });

    it("cordons and taints a node, and shows its permissions", async () => {
      await kubectl(["create", "-f", "-"], '{"apiVersion":"v1","kind":"Node","metadata":{"name":"by-hand"}}');
      await kubectl(["cordon", "by-hand"]);
      await kubectl(["taint", "node", "by-hand", "key=value:NoSchedule"]);
      expect(
        await kubectl([
          "get",
          "node",
          "by-hand",
          "-o",
          'jsonpath={.spec.unschedulable} {.spec.taints[?(@.key=="key")].effect}',
        ]),
      ).toBe("true NoSchedule");
      expect(await kubectl(["get", "node", "by-hand", "--no-headers"])).toContain("SchedulingDisabled");
      expect((await kubectl(["auth", "can-i", "delete", "machines"])).trim()).toBe("yes");
      await kubectl(["delete", "node", "by-hand"]);
    });

    it("deletes the objects of a deleted namespace", async () => {
      await kubectl(["create", "namespace", "short"]);
      await kubectl(["create", "configmap", "inside", "-n", "short"]);
      await kubectl(["delete", "namespace", "short", "--timeout=60s"]);
      expect((await kubectl.attempt(["get", "configmap", "inside", "-n", "short"])).stderr).toContain("not found");
    });
  });
});
