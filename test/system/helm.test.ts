import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createHelm, createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { startWorkingCluster, type WorkingCluster } from "../harness/working-cluster.ts";

const chart = fileURLToPath(new URL("testdata/service", import.meta.url));

/** One release from installation to uninstallation: each test continues after the previous one. */
describe("Helm 4 on a cluster with workloads", () => {
  let cluster: WorkingCluster;
  let helm: ForeignTool;
  let kubectl: ForeignTool;

  beforeAll(async () => {
    cluster = await startWorkingCluster("a");
    helm = await createHelm(cluster.kubeconfig);
    kubectl = await createKubectl(cluster.kubeconfig);
  });
  afterAll(() => cluster.close());

  const history = async (): Promise<readonly string[]> => {
    const revisions: unknown = JSON.parse(await helm(["history", "web", "-o", "json"]));
    return Array.isArray(revisions) ? revisions.map(({ revision, status }) => `${revision} ${status}`) : [];
  };
  const minAvailable = (): Promise<string> => kubectl(["get", "pdb", "web", "-o", "jsonpath={.spec.minAvailable}"]);

  it("installs and waits until everything is ready", async () => {
    expect(await helm(["install", "web", chart, "--wait", "--timeout=60s"])).toContain("STATUS: deployed");
    expect(await kubectl(["get", "deployment", "web", "-o", "jsonpath={.status.readyReplicas}"])).toBe("2");
    expect(await helm(["get", "manifest", "web"])).toContain("kind: PodDisruptionBudget");
  });

  it("runs a release's test, and reports its failure", async () => {
    expect(await helm(["test", "web", "--timeout=60s"])).toMatch(/Phase:\s+Succeeded/);
    await helm(["upgrade", "web", chart, "--set", "exitCode=1", "--wait", "--timeout=60s"]);
    expect((await helm.attempt(["test", "web", "--timeout=60s"])).code).toBe(1);
  });

  it("fails an upgrade that does not become ready, and rolls it back", async () => {
    const failed = await helm.attempt([
      "upgrade",
      "web",
      chart,
      "--set",
      "ready=false,minAvailable=2",
      "--wait",
      "--timeout=4s",
    ]);
    expect(failed.code).toBe(1);
    expect((await history()).at(-1)).toBe("3 failed");
    expect(await minAvailable()).toBe("2");
    await helm(["rollback", "web", "1", "--wait", "--timeout=60s"]);
    expect(await minAvailable()).toBe("1");
    expect((await history()).at(-1)).toBe("4 deployed");
  });

  it("rolls back a failed upgrade with --rollback-on-failure", async () => {
    const upgrade = ["upgrade", "web", chart, "--set", "ready=false,minAvailable=2", "--rollback-on-failure"];
    expect((await helm.attempt([...upgrade, "--timeout=4s"])).code).toBe(1);
    expect(await minAvailable()).toBe("1");
    expect((await history()).slice(-2)).toEqual(["5 failed", "6 deployed"]);
  });

  it("fails an upgrade that the server rejects, and keeps the release", async () => {
    const refused = await helm.attempt(["upgrade", "web", chart, "--set", "minAvailable=-1"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/spec\.minAvailable/);
    expect(await minAvailable()).toBe("1");
  });

  it("uninstalls everything, and waits for the deletions", async () => {
    expect(await helm(["uninstall", "web", "--wait", "--timeout=60s"])).toContain('release "web" uninstalled');
    await eventually(async () =>
      expect(await kubectl(["get", "deployments,pdb,replicasets,pods", "-l", "app=web", "-o", "name"])).toBe(""),
    );
    expect(await helm(["list", "-o", "json"])).toBe("[]\n");
  });
});
