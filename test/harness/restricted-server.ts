import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ApiServer, type ApiServerOptions, createApiServer, kubeconfigFor } from "@millwright/devcluster";
import { type ApiClient, createApiClient, isAlreadyExists, loadKubeConfig } from "@millwright/kube";
import { controllersUser, forbiddenRequests, grantControllers } from "./grant-roles.ts";

/** What a test needs to run controllers with the permissions that `millwright roles` prints, and no others. */
export interface ControllersAccess {
  /** Path of a kubeconfig of the controllers. */
  readonly controllersKubeconfig: string;
  /** Their bearer token, for a kubeconfig with another address. */
  readonly controllersToken: string;
  /** Grants them the machines of another namespace than `default`. */
  grantNamespace(namespace: string): Promise<void>;
  /** Requests of the controllers that the test forbids, as `VERB PATH`. Any other that is forbidden fails the test when it closes. */
  expectForbidden(pattern: RegExp): void;
}

/** A devcluster API server with RBAC. */
export interface RestrictedServer extends ControllersAccess {
  readonly server: ApiServer;
  readonly url: string;
  /** Path of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** An administrator. */
  readonly api: ApiClient;
  /** Grants the permissions, also after the server lost its data. */
  grant(): Promise<void>;
  /** Rejects when the controllers were forbidden what no test expected, or ran as the administrator. */
  close(): Promise<void>;
}

/** Where to write kubeconfigs, and how to start the server. */
export interface RestrictedServerOptions extends Omit<ApiServerOptions, "authorization"> {
  readonly folder: string;
  /** Of the files in the folder. Default: none. */
  readonly prefix?: string;
  /** The controllers' address of the server, such as that of a proxy. Default: its own. */
  readonly through?: (url: string) => Promise<string>;
  /** The roles of the controllers. Default: both, as in one cluster. */
  readonly clusters?: Parameters<typeof grantControllers>[2];
}

const namespace = "default";
const administrator = "root";
const group = "rbac.authorization.k8s.io";
const bindings = { group, version: "v1", kind: "ClusterRoleBinding", plural: "clusterrolebindings", namespaced: false };

/** Starts the server. The tokens of its users are their names. */
export async function startRestrictedServer(options: RestrictedServerOptions): Promise<RestrictedServer> {
  const { folder, prefix = "", through = (url) => Promise.resolve(url), clusters, tokens, ...serverOptions } = options;
  const server = createApiServer({
    requestLogLimit: 100_000,
    ...serverOptions,
    authorization: "RBAC",
    tokens: {
      ...tokens,
      [administrator]: { user: administrator, groups: ["system:masters"] },
      [controllersUser]: { user: controllersUser },
    },
  });
  const { url } = await server.listen();
  const kubeconfig = join(folder, `${prefix}kubeconfig`);
  await writeFile(kubeconfig, kubeconfigFor(url, { token: administrator }));
  const controllersKubeconfig = join(folder, `${prefix}controllers.kubeconfig`);
  await writeFile(controllersKubeconfig, kubeconfigFor(await through(url), { token: controllersUser }));
  // A separate user agent: faults and request counts are for the controllers under test.
  const api = createApiClient(await loadKubeConfig({ file: kubeconfig }), { userAgent: "fleet" });
  const grant = async (): Promise<void> => {
    await grantControllers(api, namespace, clusters);
    // kubectl and Helm send no token over plain HTTP.
    const anonymous = {
      metadata: { name: "anonymous" },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ apiGroup: group, kind: "User", name: "system:anonymous" }],
    };
    await api.create(bindings, anonymous).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  };
  await grant();
  const forbidden = forbiddenRequests();
  return {
    server,
    url,
    kubeconfig,
    controllersKubeconfig,
    controllersToken: controllersUser,
    api,
    grant,
    grantNamespace: (name) => grantControllers(api, name, clusters),
    expectForbidden: (pattern) => forbidden.expect(pattern),
    async close() {
      await api.close();
      await server.close();
      forbidden.check(
        server.requests
          .filter(({ user, status }) => user === controllersUser && status === 403)
          .map(({ verb, path }) => `${verb} ${path}`),
      );
      requireNoAdministrator(server);
    },
  };
}

/** @throws Error when controllers wrote a status as an administrator: then a test did not start them with their permissions */
function requireNoAdministrator({ requests }: ApiServer): void {
  const isWrite = requests.some(
    ({ user, userAgent, verb, subresource }) =>
      [administrator, "system:anonymous"].includes(user) &&
      userAgent.startsWith("millwright") &&
      verb === "patch" &&
      subresource === "status",
  );
  if (isWrite) throw new Error("Controllers ran as an administrator: start them with controllersKubeconfig");
}
