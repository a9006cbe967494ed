import { seededRandom } from "@millwright/base";
import { crds, type RequiredPermission, requiredPermissions, requiredRoles } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { ApiError, type LogLevel } from "@millwright/kube";
import { beforeEach, describe, expect, it } from "vitest";
import type { CheckedApi } from "../doctor/check-api.ts";
import { followPrerequisites } from "./follow-prerequisites.ts";

const namespace = "shop";
const rulesOf = (clusters: readonly RequiredPermission["cluster"][], scopes: readonly string[]) =>
  clusters.flatMap((cluster) =>
    requiredRoles(cluster, namespace)
      .filter(({ metadata }) => scopes.includes(metadata.namespace ?? ""))
      .flatMap(({ rules }) => rules),
  );

/** An API server that serves all kinds, and whose user has the roles of the controllers, as far as a test changes nothing of it. */
function aServer() {
  const requests: string[] = [];
  const server = {
    requests,
    serves: true,
    isIncomplete: false,
    mayReviewRules: true,
    /** Verbs and resources that the user lacks. */
    lacks: new Set<string>(),
  };
  const without = ({ resources, verbs, ...rest }: ReturnType<typeof rulesOf>[number]) => ({
    ...rest,
    resources,
    verbs: verbs.filter((verb) => !server.lacks.has(`${verb} ${resources[0] ?? ""}`)),
  });
  const api: CheckedApi = {
    get: async (_type, { name }) => {
      requests.push(`get ${name}`);
      const crd = crds().find(({ metadata }) => metadata.name === name);
      if (crd === undefined || !server.serves)
        throw new ApiError({ status: 404, reason: "NotFound", message: "none", details: { name } });
      // The caller names the type that it gets.
      return crd as never;
    },
    list: () => Promise.reject(new Error("lists nothing")),
    request: async ({ method, path, body }) => {
      const { spec = {} } = (body ?? {}) as { spec?: Readonly<Record<string, unknown>> };
      requests.push(`${method} ${path.split("/").at(-1) ?? ""}`);
      if (path.endsWith("rulesreviews")) {
        if (!server.mayReviewRules) throw new ApiError({ status: 403, reason: "Forbidden", message: "may not" });
        const scopes = ["", String(spec["namespace"])];
        const resourceRules = rulesOf(["control", "target"], scopes).map(without);
        return { status: 201, body: { status: { resourceRules, incomplete: server.isIncomplete } }, date: undefined };
      }
      if (path.endsWith("accessreviews")) {
        const {
          verb = "",
          resource = "",
          subresource,
        }: Partial<Record<string, string>> = Object(spec["resourceAttributes"]);
        const full = subresource === undefined ? resource : `${resource}/${subresource}`;
        return { status: 201, body: { status: { allowed: !server.lacks.has(`${verb} ${full}`) } }, date: undefined };
      }
      const resources = server.serves
        ? crds().flatMap(({ spec: { names } }) => [{ name: names.plural }, { name: `${names.plural}/status` }])
        : [];
      return { status: 200, body: { resources }, date: undefined };
    },
  };
  return Object.assign(server, { api });
}

describe("the prerequisites of the controllers", () => {
  let lines: string[];
  let clock: ReturnType<typeof createVirtualClock>;
  let stop: AbortController;
  beforeEach(() => {
    lines = [];
    clock = createVirtualClock();
    stop = new AbortController();
  });
  const start = (server: ReturnType<typeof aServer>, ready: (signal: AbortSignal) => Promise<void>) => {
    const followed = followPrerequisites({
      clusters: [{ api: server.api, roles: ["control", "target"] }],
      namespace,
      ready,
      clock,
      random: seededRandom(1),
      log: (level: LogLevel, message, fields) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`),
    });
    return { problems: followed.problems, ended: followed.run(stop.signal) };
  };
  const never = (signal: AbortSignal): Promise<void> =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

  it("are checked with eight requests where nothing is missing, and never again", async () => {
    const server = aServer();
    const { problems, ended } = start(server, never);
    await ended;
    expect(server.requests.filter((each) => each.includes("rulesreviews"))).toHaveLength(3);
    expect(server.requests).toHaveLength(8);
    expect(problems()).toEqual([]);
    await clock.advance(3_600_000);
    expect(server.requests).toHaveLength(8);
    expect(lines).toEqual(['info The prerequisites of a cluster are met {"cluster":"control and target cluster"}']);
  });

  it("name each missing permission once, with its remedy, and are checked again until it is granted", async () => {
    const server = aServer();
    server.lacks.add("patch nodes").add("create pods/eviction");
    const { problems, ended } = start(server, never);
    await clock.advance(300_000);
    const remedy = `Grant it: "millwright roles -n ${namespace}" prints the roles (docs/permissions.md).`;
    expect(problems()).toEqual([
      `control and target cluster: Permission nodes: Not allowed in the whole cluster: patch; the controllers need it to find, label, cordon, delete Nodes. ${remedy}`,
      `control and target cluster: Permission pods/eviction: Not allowed in the whole cluster: create; the controllers need it to drain. ${remedy}`,
    ]);
    expect(lines.map((line) => line.slice(0, line.indexOf(" {")))).toEqual([
      "warn A prerequisite is not met",
      "warn A prerequisite is not met",
    ]);
    expect(lines[0]).toContain('"remedy":"Grant it: ');
    server.lacks.clear();
    await clock.advance(60_000);
    await ended;
    expect(problems()).toEqual([]);
    expect(lines.at(-2)).toContain("info A prerequisite is met now");
    expect(clock.pending()).toBe(0);
  });

  it("are not enough while the API server rejects the credentials", async () => {
    const server = aServer();
    let rejectedMs = 0;
    const api = Object.assign(server.api, { rejectedForMs: () => rejectedMs });
    const { problems, ended } = start({ ...server, api }, never);
    await ended;
    expect(problems()).toEqual([]);
    // A renewed kubeconfig is read meanwhile.
    rejectedMs = 4_999;
    expect(problems()).toEqual([]);
    rejectedMs = 61_000;
    expect(problems()).toEqual([
      "control and target cluster: The API server rejects the credentials for 61 s (401 Unauthorized). Renew the token or certificate in the kubeconfig: it is read again.",
    ]);
  });

  it("name missing CRDs, and are checked at once when the caches have their first list", async () => {
    const server = aServer();
    server.serves = false;
    const synced = Promise.withResolvers<void>();
    const { problems, ended } = start(server, () => synced.promise);
    await clock.advance(0);
    expect(problems()).toEqual([
      expect.stringMatching(
        /^control and target cluster: CRDs: .*does not serve .*Apply them: "millwright crds apply"\.$/,
      ),
    ]);
    server.serves = true;
    synced.resolve();
    await ended;
    expect(problems()).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  it("are complete with a permission that is missing but optional, which is logged", async () => {
    const server = aServer();
    server.lacks.add("update machinesets/finalizers");
    const { problems, ended } = start(server, never);
    await ended;
    expect(problems()).toEqual([]);
    expect(lines[0]).toMatch(/^warn A prerequisite is not met .*machinesets\.machine\.sapcloud\.io\/finalizers/);
  });

  it.each(["isIncomplete", "mayReviewRules"] as const)(
    "are checked one by one where the API server does not show all rules: %s",
    async (what) => {
      const server = aServer();
      server[what] = what === "isIncomplete";
      server.lacks.add("delete volumeattachments");
      const { problems } = start(server, never);
      await clock.advance(0);
      expect(problems()).toEqual([expect.stringContaining("volumeattachments.storage.k8s.io")]);
      expect(server.requests.filter((each) => each.includes("accessreviews")).length).toBeGreaterThan(
        requiredPermissions.length,
      );
      stop.abort(new Error("stop"));
    },
  );

  it("do not take a role in the namespace of the machines for one in the whole cluster", async () => {
    const server = aServer();
    const request = server.api.request.bind(server.api);
    const inNamespace = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };
    Object.assign(server.api, {
      request: async (call: Parameters<typeof request>[0]) => {
        const spec = Object(Object(call.body).spec);
        if (call.path.endsWith("rulesreviews"))
          return {
            status: 201,
            body: { status: { resourceRules: spec.namespace === namespace ? [inNamespace] : [] } },
          };
        if (call.path.endsWith("accessreviews")) return { status: 201, body: { status: { allowed: false } } };
        return request(call);
      },
    });
    const { problems } = start(server, never);
    await clock.advance(0);
    expect(problems().some((line) => line.includes("Permission nodes:"))).toBe(true);
    expect(problems().some((line) => line.includes("Permission machines.machine"))).toBe(false);
    stop.abort(new Error("stop"));
  });
});
