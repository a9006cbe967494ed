import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import { requiredRoles } from "@millwright/core/machine-api";
import { type ApiClient, createApiClient, loadKubeConfig } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ControlPlane } from "../../tools/control-plane/start-control-plane.ts";
import { grantRoles } from "../harness/grant-roles.ts";
import { eventually } from "../harness/eventually.ts";
import { startMillwright } from "../harness/millwright.ts";
import { REAL_FLEET_MS } from "./real-fleet.ts";
import { startRealServer } from "./real-server.ts";

const namespace = "default";

/** What a real RBAC authorizer shows of the permissions of a user, and the discovery of a real API server of its kinds. */
describe("the prerequisites of the controllers on a real kube-apiserver", () => {
  let plane: ControlPlane;
  let api: ApiClient;
  let folder: string;

  beforeAll(async () => {
    plane = await startRealServer();
    folder = await mkdtemp(join(tmpdir(), "prerequisites-"));
    api = createApiClient(await loadKubeConfig({ file: plane.kubeconfig }), { clock: systemClock });
  }, REAL_FLEET_MS);
  afterAll(async () => {
    await api.close();
    await plane.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  /** Runs the checks of `millwright doctor` as a user; resolves with what is not ok. */
  const findingsOf = async (user: string): Promise<readonly string[]> => {
    const file = join(folder, user);
    await writeFile(
      file,
      (await readFile(plane.kubeconfig, "utf8")).replace('"user":{"token"', `"user":{"as":"${user}","token"`),
    );
    const command = startMillwright([
      "doctor",
      "--clusters-only",
      "-o",
      "json",
      "-n",
      namespace,
      "--control-kubeconfig",
      file,
    ]);
    await command.ended;
    const { subjects } = JSON.parse(command.output()) as {
      readonly subjects: readonly { readonly checks: readonly { readonly name: string; readonly status: string }[] }[];
    };
    return subjects.flatMap(({ checks }) => checks.filter(({ status }) => status !== "ok").map(({ name }) => name));
  };
  const allowAll = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };

  it("are met for a user with the roles that millwright roles prints, once the CRDs are applied", async () => {
    await grantRoles(api, "controllers", [
      ...requiredRoles("control", namespace),
      ...requiredRoles("target", namespace),
    ]);
    await eventually(async () => expect(await findingsOf("controllers")).toEqual(["CRDs"]));
    const apply = startMillwright(["crds", "apply", "--control-kubeconfig", plane.kubeconfig]);
    expect(await apply.ended, apply.output()).toBe(0);
    await eventually(async () => expect(await findingsOf("controllers")).toEqual([]));
  }, 120_000);

  it("are not met for a user with all permissions in the namespace of the machines alone", async () => {
    await grantRoles(api, "local", [
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name: "local", namespace },
        rules: [allowAll],
      },
    ]);
    await eventually(async () => {
      const findings = await findingsOf("local");
      // Events of Nodes are in a namespace of the target cluster.
      expect(findings).toEqual(expect.arrayContaining(["Permission nodes", "Permission events"]));
      expect(findings.filter((name) => /machines|leases/.test(name))).toEqual([]);
    });
  }, 120_000);
});
