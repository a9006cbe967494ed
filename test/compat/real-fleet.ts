import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/core";
import { kubeconfigFor } from "@millwright/devcluster";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import type { SimulatedCloudOptions } from "@millwright/provider-mock";
import type { ControlPlane } from "../../tools/control-plane/start-control-plane.ts";
import { controllersUser, forbiddenRequests, grantControllers, untilGranted } from "../harness/grant-roles.ts";
import { type Fleet, type NodeLife, startFleet } from "../harness/installation.ts";
import { type MillwrightProcess, startControllers } from "../harness/millwright.ts";
import type { ControllersAccess } from "../harness/restricted-server.ts";
import { startRealServer } from "./real-server.ts";

/** A fleet on a real kube-apiserver of its own. */
export interface RealFleet extends Fleet, ControllersAccess {
  /** Path of an administrator's kubeconfig for the cluster: not for controllers, see {@link ControllersAccess}. */
  readonly kubeconfig: string;
  readonly plane: Pick<ControlPlane, "url" | "ca" | "token" | "backup" | "restore">;
  /** Starts controllers without leader election. They are killed with the fleet, if not before. */
  runAlone(...flags: readonly string[]): MillwrightProcess;
}

/** Timeout for the start of a {@link RealFleet}, milliseconds: the first start builds the server. */
export const REAL_FLEET_MS = 1_800_000;

const namespace = "default";

/** Of the audit log: the answered requests of controllers, be they started by a test or by a release of the chart. */
const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted"],
  rules: [
    { level: "Metadata", users: [controllersUser, `system:serviceaccount:${namespace}:millwright`] },
    { level: "None" },
  ],
};

/** The fields of an audit event that are read. */
interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly responseStatus?: { readonly code?: number };
}

/** The requests of an audit log that were forbidden, as `VERB PATH`. */
async function forbiddenIn(auditLog: string): Promise<readonly string[]> {
  // The server creates it with the first request.
  const text = await readFile(auditLog, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  });
  const lines = text.split("\n").filter((line) => line !== "");
  return lines
    .map((line): AuditEvent => JSON.parse(line))
    .filter(({ responseStatus }) => responseStatus?.code === 403)
    .map(({ verb, requestURI }) => `${verb} ${requestURI.split("?")[0]}`);
}

/** Starts it. `close` ends everything, the server last, and rejects as that of {@link ControllersAccess}. */
export async function startRealFleet(
  nodeLife: NodeLife = {},
  cloud: Partial<SimulatedCloudOptions> = {},
): Promise<RealFleet> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "millwright-real-fleet-"));
    const forbidden = forbiddenRequests();
    const auditLog = join(folder, "audit.log");
    ends.push(async () => {
      const requests = await forbiddenIn(auditLog);
      await rm(folder, { recursive: true, force: true });
      forbidden.check(requests);
    });
    const policy = join(folder, "audit-policy.json");
    await writeFile(policy, JSON.stringify(auditPolicy));
    const controllersToken = randomBytes(24).toString("hex");
    const plane = await startRealServer(undefined, [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`], {
      [controllersUser]: controllersToken,
    });
    ends.push(() => plane.stop());
    const api = createApiClient(await loadKubeConfig({ file: plane.kubeconfig }), { clock: systemClock });
    ends.push(() => api.close());
    const controllersKubeconfig = join(folder, "controllers.kubeconfig");
    const access = { certificateAuthority: plane.ca, token: controllersToken };
    await writeFile(controllersKubeconfig, kubeconfigFor(plane.url, access), { mode: 0o600 });
    const grantNamespace = async (name: string): Promise<void> => {
      await grantControllers(api, name);
      await untilGranted(api, name);
    };
    await grantNamespace(namespace);
    const fleet = await startFleet(api, cloud, nodeLife);
    ends.push(() => fleet.close());
    return {
      ...fleet,
      kubeconfig: plane.kubeconfig,
      controllersKubeconfig,
      controllersToken,
      grantNamespace,
      expectForbidden: (pattern) => forbidden.expect(pattern),
      plane: {
        ...plane,
        restore(backup) {
          // A server that starts forbids everything until it has read its roles.
          forbidden.expect(/^/);
          return plane.restore(backup);
        },
      },
      runAlone(...flags) {
        const process = startControllers(controllersKubeconfig, ...flags);
        ends.push(() => process.stop("SIGKILL"));
        return process;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
