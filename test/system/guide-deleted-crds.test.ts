import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deleteCrd, untilServed, vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { commandsOf, wordsOf } from "../harness/guide-commands.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";

const LONG = 90_000;
/** The commands of the guide in order, with a real kubectl. */
describe("the guide to deleted definitions", { timeout: 300_000 }, () => {
  let installation: Installation;
  let kubectl: ForeignTool;
  let guide: ReadonlyMap<string, readonly string[]>;
  let folder: string;

  beforeAll(async () => {
    guide = await commandsOf("objects-were-lost", "operations");
    folder = await mkdtemp(join(tmpdir(), "millwright-guides-"));
    installation = await startInstallation();
    kubectl = await createKubectl(installation.kubeconfig);
    await installation.api.create(machineClassResource, machineClass("small"));
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    installation.runAlone();
  });
  afterAll(async () => {
    await installation.close();
    await rm(folder, { recursive: true, force: true });
  });

  const untilRunning = (): Promise<void> =>
    eventually(async () => expect((await installation.machines()).map(phaseOf)).toEqual(["Running", "Running"]), LONG);
  const calls = (operation: string): number =>
    installation.cloud.calls.filter((call) => call.operation === operation).length;
  const commands = (heading: string, program: string): readonly string[] =>
    (guide.get(heading) ?? []).filter((command) => command.startsWith(program));
  const words = (command: string): readonly string[] => wordsOf(command).slice(1);
  /** `kubectl get … | xargs -I{} kubectl …`. */
  const forEach = async (command: string): Promise<void> => {
    const [names = "", each = ""] = command.split(" | xargs -I{} ");
    for (const name of (await kubectl(words(names))).trim().split("\n"))
      await kubectl(words(each).map((word) => word.replace("{}", name)));
  };

  it("recovers paused machines with the same VMs", async () => {
    await untilRunning();
    const before = vmsOf(await installation.machines());
    await deleteCrd(installation.api, "Machine");
    const [deletedAt = "", messages = ""] = commands("A CRD is being deleted", "kubectl");
    await eventually(async () => {
      expect(await kubectl(words(deletedAt))).toMatch(/^\d{4}-/);
      expect((await kubectl(words(messages))).match(/Deletion paused/g)).toHaveLength(2);
    }, LONG);
    const [machine] = await installation.machines();
    const described = startMillwright(["describe", "machine", machine?.metadata.name ?? ""], {
      KUBECONFIG: installation.kubeconfig,
    });
    await described.ended;
    expect(described.output()).toContain("Deletion:        Deletion paused");

    const file = join(folder, "fleet.yaml");
    const millwright = async (command: string): Promise<string> => {
      const args = words(command).map((word) => (word === "fleet.yaml" ? file : word));
      const run = startMillwright(args, { KUBECONFIG: installation.kubeconfig });
      expect(await run.ended, run.output()).toBe(0);
      return run.output();
    };
    const [save = "", declare = "", restore = ""] = commands("Recover from a deleted CRD", "millwright");
    await millwright(save);
    const [, removeFinalizers = "", waitForEnd = "", waitUntilRunning = ""] = commands(
      "Recover from a deleted CRD",
      "kubectl",
    );
    await forEach(removeFinalizers);
    await kubectl(words(waitForEnd));
    expect(declare).toBe("millwright crds | kubectl apply -f -");
    const crds = startMillwright(["crds"]);
    await crds.ended;
    await kubectl(["apply", "-f", "-"], crds.output());
    await untilServed(installation.api, "Machine");
    expect((await millwright(restore)).match(/^Created Machine /gm)).toHaveLength(2);
    await kubectl(words(waitUntilRunning));
    await untilRunning();
    expect(vmsOf(await installation.machines())).toEqual(before);
    expect([calls("create"), calls("delete")]).toEqual([2, 0]);
  });

  it("deletes all machines when the deletion is allowed", async () => {
    await deleteCrd(installation.api, "Machine");
    await eventually(async () => {
      const texts = (await installation.machines()).map(({ status }) => status?.lastOperation?.description ?? "");
      expect(texts.filter((text) => text.startsWith("Deletion paused"))).toHaveLength(2);
    }, LONG);
    const [meant = ""] = commands("Delete everything", "kubectl");
    await kubectl(words(meant));
    await eventually(async () => expect(installation.cloud.vms()).toEqual([]), LONG);
  });
});
