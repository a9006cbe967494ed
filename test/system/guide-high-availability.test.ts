import { hostname } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chart } from "../harness/chart.ts";
import { createHelm, createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { commandsOf, wordsOf } from "../harness/guide-commands.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { startWorkingCluster, type WorkingCluster } from "../harness/working-cluster.ts";

const namespace = "machines";

describe("the guide to high availability", () => {
  let cluster: WorkingCluster;
  let helm: ForeignTool;
  let kubectl: ForeignTool;
  let commands: ReadonlyMap<string, readonly string[]>;
  const started: MillwrightProcess[] = [];

  const commandOf = (heading: string, index = 0, of = namespace): readonly string[] => {
    const command = commands.get(heading)?.[index] ?? "";
    return wordsOf(command.replaceAll("$NAMESPACE", of).replaceAll("charts/millwright", chart));
  };
  const run = (heading: string, index = 0, of = namespace): Promise<string> => {
    const [program, ...words] = commandOf(heading, index, of);
    expect(["kubectl", "helm"]).toContain(program);
    return program === "helm" ? helm(words) : kubectl(words);
  };
  /** Starts a process with the permissions of a release. */
  const start = async (heading: string, index: number, release: string): Promise<MillwrightProcess> => {
    const [program, ...words] = commandOf(heading, index);
    expect(program).toBe("millwright");
    const kubeconfig = await cluster.kubeconfigOfRelease("millwright", `${release}-millwright`);
    const process = startMillwright(words, { KUBECONFIG: kubeconfig });
    started.push(process);
    return process;
  };
  const ofDeployment = (name: string, of: string, path: string): Promise<string> =>
    kubectl(["--namespace", of, "get", "deployment", name, "-o", `jsonpath=${path}`]);

  beforeAll(async () => {
    cluster = await startWorkingCluster("a", "b");
    helm = await createHelm(cluster.kubeconfig);
    kubectl = await createKubectl(cluster.kubeconfig);
    commands = await commandsOf("high-availability", "operations");
    for (const name of [namespace, "millwright", "team-a", "team-b", "team-c"])
      await kubectl(["create", "namespace", name]);
    await helm(["install", "millwright", chart, "--namespace", namespace, "--wait", "--timeout=60s"]);
  });
  afterAll(async () => {
    await Promise.all(started.map((process) => process.stop("SIGKILL")));
    await cluster.close();
  });

  it("has a chart with two pods and a budget that lets one be evicted, and adds a third pod", async () => {
    expect(await ofDeployment("millwright", namespace, "{.spec.replicas}")).toBe("2");
    const budget = ["--namespace", namespace, "get", "poddisruptionbudget", "millwright"];
    expect(await kubectl([...budget, "-o", "jsonpath={.spec.maxUnavailable}"])).toBe("1");
    await run("Replicas");
    expect(await ofDeployment("millwright", namespace, "{.spec.replicas}")).toBe("3");
  });

  it("installs a release per process", async () => {
    for (const index of [2, 3]) await run("More than one process", index);
    const args = "{.spec.template.spec.containers[0].args}";
    expect(await ofDeployment("team-a-millwright", "millwright", args)).toContain("--namespace=team-a,team-b");
    expect(await ofDeployment("team-c-millwright", "millwright", args)).toContain("--namespace=team-c");
    const roles = await kubectl(["get", "roles", "--all-namespaces", "-o", "name"]);
    expect(roles.match(/team-a-millwright$/gm)).toHaveLength(2);
  });

  it("divides namespaces between two processes, and shows which process leads each", async () => {
    const first = await start("More than one process", 0, "team-a");
    const second = await start("More than one process", 1, "team-c");
    await first.waitFor(/"namespace":"team-a","msg":"Leading"/);
    await first.waitFor(/"namespace":"team-b","msg":"Leading"/);
    await second.waitFor(/"namespace":"team-c","msg":"Leading"/);
    for (const team of ["team-a", "team-b", "team-c"]) {
      const rows = (await run("One process leads", 0, team)).trim().split("\n");
      expect(rows[0]).toMatch(/NAME +HOLDER/);
      const holders = rows.slice(1).map((row) => row.split(/ +/));
      expect(holders.map(([name]) => name)).toEqual(["machine-controller-manager", "machine-controller"]);
      const [, holder = ""] = holders[0] ?? [];
      expect(holders[1]?.[1]).toBe(holder);
      expect(holder).toMatch(new RegExp(`^${hostname()}_`));
      expect((team === "team-c" ? second : first).output()).toContain(holder);
    }
  });
});
