import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import { kubeconfigFor } from "@millwright/devcluster";
import { type ApiClient, createApiClient, loadKubeConfig } from "@millwright/kube";
import type { ControlPlane } from "../../tools/control-plane/start-control-plane.ts";
import { controllersUser, forbiddenRequests, grantControllers, untilGranted } from "../harness/grant-roles.ts";
import type { ControllersAccess } from "../harness/restricted-server.ts";
import { startRealServer } from "./real-server.ts";

/** A real kube-apiserver that records the requests of controllers. */
export interface AuditedServer extends ControllersAccess {
  /** An administrator. */
  readonly api: ApiClient;
  /** Path of an administrator's kubeconfig: not for controllers, see {@link ControllersAccess}. */
  readonly kubeconfig: string;
  readonly plane: Pick<ControlPlane, "url" | "ca" | "token" | "backup" | "restore">;
  /** Rejects when the controllers were forbidden what no test expected. */
  close(): Promise<void>;
}

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

/**
 * Starts it.
 *
 * @param clusters which roles the controllers have there; default: both, as in one cluster
 */
export async function startAuditedServer(
  clusters: NonNullable<Parameters<typeof grantControllers>[2]> = ["control", "target"],
): Promise<AuditedServer> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "millwright-audited-server-"));
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
      await grantControllers(api, name, clusters);
      await untilGranted(api, name, clusters);
    };
    await grantNamespace(namespace);
    return {
      api,
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
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
