import { readFile } from "node:fs/promises";
import {
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type GuideRunner, readGuide } from "../harness/guide-runner.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";

const namespace = "default";
const LONG = 60_000;

/** Without what differs from run to run: names of sets and machines, and the width of columns. */
const plain = (text: string): string =>
  text.replaceAll(/\b\w+-[a-z0-9]{5}-[a-z0-9]{5}\b/g, "MACHINE").replaceAll(/[ \n]+/g, " ");

/** Each symptom of the page is caused, and its commands show what the page has below them. */
describe("the guide to troubleshooting", { timeout: 300_000 }, () => {
  let installation: Installation;
  let controllers: MillwrightProcess;
  let guide: GuideRunner;
  let page: string;
  const names: Record<string, string> = { NAMESPACE: namespace, DEPLOYMENT: "fleet", FOREIGN: "elsewhere" };

  beforeAll(async () => {
    installation = await startInstallation();
    const { api, cloud, kubeconfig, controllersKubeconfig } = installation;
    page = await readFile(new URL("../../docs/operations/troubleshoot.md", import.meta.url), "utf8");
    guide = await readGuide("troubleshoot", { kubeconfig, names });
    const message = "image ami-1 does not exist";
    await cloud.addFault({ operation: "create", code: "InvalidArgument", match: "broken-", times: 1e6, message });
    for (const name of ["small", "broken"]) await api.create(machineClassResource, machineClass(name));
    await api.create(machineClassResource, { ...machineClass("elsewhere"), provider: "AWS" });
    for (const [name, className] of [
      ["fleet", "small"],
      ["kept", "small"],
      ["broken", "broken"],
      ["foreign", "elsewhere"],
    ] as const)
      await api.create(machineDeploymentResource, machineDeployment(name, className, 1));
    controllers = startMillwright(["run", "--provider=mock", `--namespace=${namespace}`], {
      KUBECONFIG: controllersKubeconfig,
    });
    for (const name of ["kept", "fleet"]) await untilPhase(name, "Running");
  });
  afterAll(async () => {
    await controllers.stop("SIGKILL");
    await installation.close();
  });

  /** Makes the machine of a deployment that of the commands. */
  const choose = async (name: string): Promise<Machine | undefined> => {
    const machine = (await installation.machines()).find(({ metadata }) => metadata.name.startsWith(`${name}-`));
    Object.assign(names, { MACHINE: machine?.metadata.name, NODE: machine?.metadata.labels?.["node"] });
    return machine;
  };
  const untilPhase = (name: string, phase: string): Promise<void> =>
    eventually(async () => expect((await choose(name))?.status?.currentStatus?.phase).toBe(phase), LONG);
  /** Runs the commands below a heading until they print each line of the sample that the page has there. */
  const showsSample = async (heading: string, ...indexes: readonly number[]): Promise<string> => {
    const [, section = ""] = page.split(`## ${heading}\n`);
    const [, sample = ""] = /\n\n```\n([^]*?)\n```\n/.exec(section.split("\n## ")[0] ?? "") ?? [];
    expect(sample, heading).not.toBe("");
    let output = "";
    await eventually(async () => {
      output = "";
      for (const index of indexes) output += (await guide.attempt(heading, index)).output;
      for (const line of sample.split("\n")) expect(plain(output)).toContain(plain(line).trim());
    }, LONG);
    return output;
  };

  it("shows objects, Leases and permissions when nothing happens", async () => {
    for (const start of ["millwright why", "kubectl get millwright", "kubectl get machine", "kubectl wait"])
      guide.leaveOut(start, "guide-daily-commands.test.ts runs them");
    guide.leaveOut("millwright doctor --control-kubeconfig", "guide-doctor.test.ts runs it");
    guide.leaveOut("millwright doctor $CLASS -n", "guide-doctor.test.ts runs it");
    const nothing = "Nothing happens at all";
    expect(await guide.run(nothing, 0)).toContain("HOLDER");
    expect(await guide.run(nothing, 1)).toContain("ok       CRDs");
    expect(await guide.run(nothing, 2)).toContain("PAUSED");
    await guide.run("Deletions are held");
    await showsSample("A permission is missing", 0);
    await guide.run("The process restarts", 0);
    guide.leaveOut("kubectl --namespace $NAMESPACE logs", "no container runs, so there is no log of one");
  });

  it("shows why a machine is in CrashLoopBackOff, what its deployment waits for, and which driver is missing", async () => {
    await untilPhase("broken", "CrashLoopBackOff");
    Object.assign(names, { CLASS: "broken", DEPLOYMENT: "broken" });
    await showsSample("A machine stays in CrashLoopBackOff", 0, 1);
    expect(await guide.run("A machine stays in CrashLoopBackOff", 2)).toContain("MachineClass broken");
    await showsSample("A rollout stands", 0, 1);
    await showsSample("A driver is missing", 0, 1);
  });

  it("shows why a machine is Unknown, and why another one stays Terminating", async () => {
    await untilPhase("fleet", "Running");
    const lastTransitionTime = new Date().toISOString();
    const conditions = [{ type: "KernelDeadlock", status: "True", reason: "Test", lastTransitionTime }];
    const options = { kind: "strategic", subresource: "status" } as const;
    await installation.api.patch(nodeResource, { name: names["NODE"] ?? "" }, { status: { conditions } }, options);
    await untilPhase("fleet", "Unknown");
    await showsSample("A machine is Unknown", 0, 1);

    await untilPhase("kept", "Running");
    const heading = "A machine stays Terminating";
    expect(await guide.run(heading, 1)).toContain("would complete by itself");
    const message = "you may not delete VMs";
    await installation.cloud.addFault({ operation: "delete", code: "PermissionDenied", times: 1e6, message });
    await installation.api.delete(machineResource, { namespace, name: names["MACHINE"] ?? "" });
    await showsSample(heading, 0);
  });

  it("shows that a VM runs whose Node does not join, and has no further commands", async () => {
    const slow = await startInstallation({ bootDelayMs: 3_600_000 });
    try {
      await slow.api.create(machineClassResource, machineClass("small"));
      await slow.api.create(machineDeploymentResource, machineDeployment("pool", "small", 1));
      slow.runAlone();
      await eventually(async () => {
        const [machine] = await slow.machines();
        expect(machine?.status?.currentStatus?.phase).toBe("Pending");
        names["MACHINE"] = machine?.metadata.name ?? "";
      }, LONG);
      const whole = guide;
      guide = await readGuide("troubleshoot", { kubeconfig: slow.kubeconfig, names });
      await showsSample("A machine stays Pending, no Node joins", 0);
      await guide.run("A machine stays Pending, no Node joins", 1);
      guide.leaveOut("kubectl get certificatesigningrequests", "the devcluster issues no certificates to kubelets");
      expect(whole.rest.filter((command) => guide.rest.includes(command))).toEqual([]);
    } finally {
      await slow.close();
    }
  });
});
