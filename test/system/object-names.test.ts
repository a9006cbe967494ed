import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";

describe("objects as kubectl prints their names", () => {
  let installation: Installation;
  let kubectl: ForeignTool;
  beforeAll(async () => {
    installation = await startInstallation();
    kubectl = await createKubectl(installation.kubeconfig);
    await installation.api.create(machineClassResource, machineClass("small"));
    await installation.api.create(machineDeploymentResource, machineDeployment("pool", "small", 1));
    installation.runAlone();
  });
  afterAll(() => installation.close());

  const statusOf = async (...args: readonly string[]): Promise<number> => {
    const command = startMillwright([...args, "--kubeconfig", installation.kubeconfig]);
    const status = await command.ended;
    expect(status, `${args.join(" ")}: ${command.output()}`).not.toBe(2);
    return status;
  };

  it("are read by why, describe, approve, drain and drift", async () => {
    await eventually(async () =>
      expect((await installation.machines()).map(({ status }) => status?.currentStatus?.phase)).toEqual(["Running"]),
    );
    const read: Readonly<Record<string, readonly (readonly string[])[]>> = {
      machineclasses: [["why"], ["describe"]],
      machinedeployments: [["why"], ["describe"], ["approve", "--for=1h", "--dry-run"]],
      machinesets: [["why"], ["describe"], ["approve", "--for=1h", "--dry-run"]],
      machines: [["why"], ["describe"], ["approve", "--for=1h", "--dry-run"], ["drift"]],
      nodes: [["why"], ["drain", "--dry-run"]],
    };
    for (const [kind, commands] of Object.entries(read)) {
      const name = (await kubectl(["get", kind, "-o", "name"])).trim();
      expect(name).toMatch(/^(node|machine\w*\.machine\.sapcloud\.io)\/\S+$/);
      for (const [command = "", ...flags] of commands) expect(await statusOf(command, name, ...flags)).toBe(0);
    }
  });
});
