import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ApiClient, createApiClient, loadKubeConfig } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHelm, createKubectl } from "../harness/foreign-tools.ts";
import { type GuideRunner, readGuide } from "../harness/guide-runner.ts";
import { type Fleet, machineClass, machineDeployment, startFleet } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { startWorkingCluster, type WorkingCluster } from "../harness/working-cluster.ts";

const namespace = "default";

/** The pods of the release are simulated; a process beside them does what its container would do, with the permissions of its service account. */
describe("the guide to installing", { timeout: 300_000 }, () => {
  let cluster: WorkingCluster;
  let api: ApiClient;
  let fleet: Fleet;
  let guide: GuideRunner;
  let controllers: MillwrightProcess | undefined;

  beforeAll(async () => {
    cluster = await startWorkingCluster("a", "b");
    api = createApiClient(await loadKubeConfig({ file: cluster.kubeconfig }), { userAgent: "fleet" });
    fleet = await startFleet(api);
    const pool = join(cluster.folder, "pool.yaml");
    const items = [machineClass("small"), machineDeployment("pool", "small", 1)];
    await writeFile(pool, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    const names = {
      NAMESPACE: namespace,
      DRIVER: "mock",
      IMAGE: "registry.example/millwright-mock",
      "pool.yaml": pool,
    };
    guide = await readGuide("install", { kubeconfig: cluster.kubeconfig, names });
  });
  afterAll(async () => {
    await controllers?.stop("SIGKILL");
    await fleet.close();
    await api.close();
    await cluster.close();
  });

  it("installs the chart with a driver in a container of its own", async () => {
    expect(await guide.run("A driver in another language", 2)).toContain("STATUS: deployed");
    const helm = await createHelm(cluster.kubeconfig);
    expect(await helm(["get", "manifest", "millwright", "--namespace", namespace])).toContain(
      "--provider=unix:///run/millwright/mock/driver.sock",
    );
    await helm(["uninstall", "millwright", "--namespace", namespace]);
  });

  it("ends with a Ready node of a driver from npm", async () => {
    guide.leaveOut("export ", "the names are given");
    guide.leaveOut("npm run stage-image", "test/system/image.test.ts stages the same folder");
    guide.leaveOut("podman ", "no engine for containers is here");
    expect(await guide.run("A driver from npm", 3)).toContain("STATUS: deployed");
    controllers = startMillwright(["run", "--provider=mock", `--namespace=${namespace}`], {
      KUBECONFIG: await cluster.kubeconfigOfRelease(namespace, "millwright"),
    });
    expect(await guide.run("The first node", 0)).toContain("successfully rolled out");
    await guide.run("The first node", 1);
    await guide.run("The first node", 2);
    expect(await guide.run("The first node", 3)).toContain("machinedeployment.machine.sapcloud.io/pool");
    expect(await guide.run("The first node", 4)).toMatch(/ Ready /);
    await guide.run("The first node", 5);
    expect(await guide.run("The first node", 6)).toContain("CRDs");
    const [machine] = await fleet.machines();
    const [helm, kubectl] = [await createHelm(cluster.kubeconfig), await createKubectl(cluster.kubeconfig)];
    const notes = await helm(["get", "notes", "millwright", "--namespace", namespace]);
    const commands = [...notes.matchAll(/^ {2}(kubectl|millwright) (.*)$/gm)]
      .map(([, program, text = ""]) => {
        const words = text
          .replace("FILE", join(cluster.folder, "pool.yaml"))
          .replace("NAME", machine?.metadata.name ?? "");
        return [program, words.split(" ")] as const;
      })
      .filter(([, words]) => !words.includes("logs"));
    expect(commands.length).toBeGreaterThan(4);
    for (const [, words] of commands.filter(([program]) => program === "kubectl")) await kubectl(words);
    for (const [, words] of commands.filter(([program]) => program === "millwright")) {
      const command = startMillwright(words, { KUBECONFIG: cluster.kubeconfig });
      expect(await command.ended, `${words.join(" ")}: ${command.output()}`).toBe(0);
    }
    for (const line of guide.rest)
      expect(line).toMatch(/^(?:millwright crds|helm template|kubectl create|kubectl apply)/);
  });
});
