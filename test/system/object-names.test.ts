import { machineClassResource, machineDeploymentResource } from "@millwright/core";
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
    await eventually(async () =>
      expect((await installation.machines()).map(({ status }) => status?.currentStatus?.phase)).toEqual(["Running"]),
    );
  });
  afterAll(() => installation.close());

  const statusOf = async (...args: readonly string[]): Promise<number> => {
    const command = startMillwright([...args, "--kubeconfig", installation.kubeconfig]);
    const status = await command.ended;
    expect(status, `${args.join(" ")}: ${command.output()}`).not.toBe(2);
    return status;
  };

  it("are read by why, describe, approve, drain and drift", async () => {
    for (const kind of ["machineclasses", "machinedeployments", "machinesets", "machines"]) {
      const name = (await kubectl(["get", kind, "-o", "name"])).trim();
      expect(name).toMatch(/^machine\w*\.machine\.sapcloud\.io\/\S+$/);
      expect(await statusOf("why", name)).toBe(0);
      expect(await statusOf("describe", name)).toBe(0);
      if (kind !== "machineclasses") expect(await statusOf("approve", name, "--dry-run")).toBe(0);
      if (kind === "machines") expect(await statusOf("drift", name)).toBe(0);
    }
    const node = (await kubectl(["get", "nodes", "-o", "name"])).trim();
    expect(await statusOf("why", node)).toBe(0);
    expect(await statusOf("drain", node, "--dry-run")).toBe(0);
  });
});
