import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isRecord } from "@millwright/base";
import { machineClassResource, type MachineDeployment, machineDeploymentResource } from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { kubectlPath } from "../harness/foreign-tools.ts";
import { machineClass } from "../harness/installation.ts";

// That of the roles of the fleet.
const namespace = "default";
const pool = { namespace, name: "pool" };
const read = (page: string): Promise<string> =>
  readFile(new URL(`../../docs/guides/${page}.md`, import.meta.url), "utf8").then((text) =>
    text.replaceAll(/(?<=namespace: |-n )machines\b/g, namespace),
  );

/** test/clouds/aws-guide.test.ts follows the guide of AWS from its beginning. */
describe("the guides of clouds that no test has", { timeout: 120_000 }, () => {
  let fleet: ControlledFleet;
  let folder: string;

  beforeAll(async () => {
    fleet = await startControlledFleet();
    folder = await mkdtemp(join(tmpdir(), "millwright-clouds-"));
    await symlink(await kubectlPath(), join(folder, "kubectl"));
    await symlink(fileURLToPath(new URL("../../tools", import.meta.url)), join(folder, "tools"));
    // The deployments of the guides, with VMs of the simulated cloud.
    await fleet.api.create(machineClassResource, { ...machineClass("pool"), metadata: pool, secretRef: pool });
    const { data } = await fleet.api.get(secretResource, { namespace, name: "cloud" });
    await fleet.api.create(secretResource, { metadata: pool, data });
    fleet.run();
  });
  afterAll(async () => {
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  });

  const shell = async (script: string): Promise<string> => {
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}`, KUBECONFIG: fleet.kubeconfig };
    const { stdout } = await promisify(execFile)(
      "bash",
      // Without --norc, bash may take its standard input, a socket, for a remote login, and read files that change PATH.
      ["--norc", "-euo", "pipefail", "-c", script],
      { cwd: folder, env },
    );
    return stdout.replaceAll(/\s+/g, " ");
  };
  const setUserData = (text: string): Promise<unknown> =>
    fleet.api.patch(
      secretResource,
      pool,
      { data: { userData: Buffer.from(text).toString("base64") } },
      { kind: "merge" },
    );

  /** The size, once the controllers have seen the last change. */
  const untilObserved = (): Promise<number | undefined> =>
    eventually(async () => {
      const { metadata, spec, status } = await fleet.api.get<MachineDeployment>(machineDeploymentResource, pool);
      expect(status?.observedGeneration).toBe(metadata.generation);
      return spec.replicas;
    });

  it.each(["gcp", "azure", "qemu"])(
    "leave the size of a pool to a cluster autoscaler, and their user data has the startup taint: %s",
    async (name) => {
      const guide = await read(name);
      const [, manifest = ""] = /^```yaml\n(.*?)^```$/ms.exec(guide) ?? [];
      const deployment = parseAllDocuments(manifest).find((document) => {
        const object: unknown = document.toJS();
        return isRecord(object) && object["kind"] === "MachineDeployment";
      });
      const file = join(folder, "pool.yaml");
      await writeFile(file, String(deployment));
      await shell("kubectl apply -f pool.yaml");
      await untilObserved();
      const [, userData = ""] = /^```sh\n(#!.*?)^```$/ms.exec(await read("user-data")) ?? [];
      await setUserData(userData);

      const [, script = ""] = /^## Cluster autoscaler\n.*?^```sh\n(.*?)^```$/ms.exec(guide) ?? [];
      const checked = await shell(script);
      expect(checked).toContain("the keys that the driver needs");
      expect(checked).not.toContain("Startup taint");
      expect(await readFile(file, "utf8")).not.toContain("replicas");
      expect(await untilObserved()).toBe(2);

      await setUserData("#!/bin/bash\nkubeadm join\n");
      const [check = ""] = /^tools\/millwright doctor .*$/m.exec(script) ?? [];
      expect(await shell(check)).toContain("Startup taint");
      await shell("kubectl delete machinedeployment pool");
    },
  );
});
