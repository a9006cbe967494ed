import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { CloudInstance } from "./cloud-controller-manager/cloud-instance.ts";

/** A server of Nova, as far as a driver sees it. */
export interface OpenstackServer {
  readonly id: string;
  readonly name: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly userData: string;
  readonly createdMs: number;
}

/** What `POST /servers` has. */
interface ServerRequest {
  readonly name: string;
  readonly flavorRef: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly user_data?: string;
}

/** What a request is answered with. */
interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly token?: string;
}

/** A cloud of OpenStack: Keystone, Nova, Neutron and Cinder behind one port, as far as drivers of machines use them. Source: https://docs.openstack.org/api-quick-start/. */
export interface OpenstackCloud {
  /** Of Keystone. */
  readonly authUrl: string;
  servers(): readonly OpenstackServer[];
  instances(): readonly CloudInstance[];
  /** From now on Nova has no room for a new server. */
  fillUp(): void;
  close(): Promise<void>;
}

export const openstackRegion = "region-a";
const password = "correct";
const token = "a-token";
const network = "4f3f7b5e-1f0d-4f52-9d28-5b3f6a5c4c11";
const flavor = { id: "1", name: "m1.small", vcpus: 2, ram: 4096, disk: 20 };
const imageId = "a40dff99-e78a-4c83-af12-26b97e13fc9f";
/** A server is in status BUILD so long, milliseconds. */
const BUILD_MS = 300;

/** A class and its Secret for this cloud, as Gardener writes them. */
export const openstackClass = {
  apiVersion: "openstack.machine.gardener.cloud/v1alpha1",
  kind: "MachineProviderConfig",
  spec: {
    availabilityZone: "zone-a",
    flavorName: flavor.name,
    imageID: imageId,
    keyName: "key",
    networkID: network,
    podNetworkCidr: "100.96.0.0/11",
    region: openstackRegion,
    securityGroups: ["default"],
    tags: { "kubernetes.io-cluster-demo": "1", "kubernetes.io-role-node": "1" },
  },
};
export const openstackSecret = (authURL: string, userData = "boot"): Readonly<Record<string, string>> => ({
  authURL,
  domainName: "Default",
  tenantName: "demo",
  username: "millwright",
  password,
  userData,
});

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a stream of node:http
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
}

const missing = (what: string): Answer => ({
  status: 404,
  body: { itemNotFound: { code: 404, message: `${what} could not be found.` } },
});

const stateOf = ({ createdMs }: OpenstackServer): string => (Date.now() - createdMs < BUILD_MS ? "BUILD" : "ACTIVE");

const unauthenticated: Answer = {
  status: 401,
  body: { error: { code: 401, message: "The request you have made requires authentication." } },
};

const portOf = ({ id, name }: OpenstackServer): object => ({
  id: `port-${id}`,
  name,
  network_id: network,
  device_id: id,
  allowed_address_pairs: [],
});

/** A server in an answer of Nova. */
function shown(server: OpenstackServer): object {
  const addresses = { private: [{ addr: "10.0.0.4", version: 4 }] };
  const { id, name, metadata } = server;
  return { id, name, metadata, status: stateOf(server), addresses: stateOf(server) === "ACTIVE" ? addresses : {} };
}

/** The root of a service: its versions. */
function versionsOf(href: string, id: string): Answer {
  const version = { id, status: "CURRENT", version: "", min_version: "", links: [{ rel: "self", href }] };
  return { status: 200, body: { version, versions: [version] } };
}

function keystone(url: string, path: string, body: unknown): Answer {
  if (path !== "/v3/auth/tokens") {
    const v3 = { id: "v3.14", status: "stable", links: [{ rel: "self", href: `${url}/v3/` }] };
    return { status: 300, body: { versions: { values: [v3] } } };
  }
  if (!JSON.stringify(body).includes(`"password":"${password}"`)) return unauthenticated;
  const endpointOf = (type: string, at: string) => ({
    type,
    name: type,
    endpoints: [{ interface: "public", region: openstackRegion, region_id: openstackRegion, url: `${url}${at}` }],
  });
  const catalog = [
    endpointOf("compute", "/compute/v2.1"),
    endpointOf("network", "/network"),
    endpointOf("volumev3", "/volume/v3"),
  ];
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const issued_at = new Date().toISOString();
  return { status: 201, token, body: { token: { catalog, expires_at, issued_at, methods: ["password"] } } };
}

/** Nova, and its servers. */
function createNova() {
  const servers = new Map<string, OpenstackServer>();
  let isFull = false;
  const create = (body: unknown): Answer => {
    if (isFull) return { status: 403, body: { forbidden: { code: 403, message: "Quota exceeded for instances" } } };
    // The driver is a real client, which has validated it.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { server } = body as { server: ServerRequest };
    const id = randomUUID();
    const { name, metadata = {}, user_data: userData = "" } = server;
    servers.set(id, { id, name, metadata, userData, createdMs: Date.now() });
    return { status: 202, body: { server: { id } } };
  };
  const answer = (method: string, path: string, query: URLSearchParams, body: unknown): Answer => {
    if (path === "/flavors/detail") return { status: 200, body: { flavors: [flavor] } };
    if (path === "/servers" && method === "POST") return create(body);
    if (path === "/servers/detail") {
      const name = new RegExp(query.get("name") ?? "");
      const found = [...servers.values()].filter((each) => name.test(each.name));
      return { status: 200, body: { servers: found.map(shown) } };
    }
    const id = /^\/servers\/([^/]+)$/.exec(path)?.[1] ?? "";
    const server = servers.get(id);
    if (server === undefined) return missing(`Instance ${id}`);
    if (method !== "DELETE") return { status: 200, body: { server: shown(server) } };
    servers.delete(id);
    return { status: 204 };
  };
  return { answer, servers: () => [...servers.values()], fillUp: () => void (isFull = true) };
}

const instanceOf = (server: OpenstackServer): CloudInstance => ({
  nodeName: server.name,
  systemUuid: server.id,
  isRunning: stateOf(server) === "ACTIVE",
  providerId: `openstack:///${openstackRegion}/${server.id}`,
  zone: "zone-a",
  region: openstackRegion,
  instanceType: flavor.name,
  addresses: [],
});

/** Starts the cloud on loopback. */
export async function startOpenstackCloud(): Promise<OpenstackCloud> {
  const { answer: nova, servers, fillUp } = createNova();
  let url = "";

  const neutron = (method: string, path: string, query: URLSearchParams): Answer => {
    if (path !== "/v2.0/ports") return method === "PUT" ? { status: 200, body: { port: {} } } : missing(path);
    const ports = servers().filter(({ id }) => id === query.get("device_id"));
    return { status: 200, body: { ports: ports.map(portOf) } };
  };

  const answerOf = (method: string, { pathname, searchParams }: URL, hasToken: boolean, body: unknown): Answer => {
    const [, service = ""] = pathname.split("/");
    if (service === "v3" || service === "") return keystone(url, pathname, body);
    if (!hasToken) return unauthenticated;
    switch (pathname) {
      case "/compute/v2.1/":
        return versionsOf(`${url}${pathname}`, "v2.1");
      case "/network/":
        return versionsOf(`${url}/network/v2.0/`, "v2.0");
      case "/volume/v3/":
        return versionsOf(`${url}${pathname}`, "v3.0");
      default:
        return service === "compute"
          ? nova(method, pathname.replace("/compute/v2.1", ""), searchParams, body)
          : neutron(method, pathname.replace("/network", ""), searchParams);
    }
  };

  const http = createServer((request, response) => {
    const respond = async (): Promise<void> => {
      const at = new URL(request.url ?? "", url);
      const hasToken = request.headers["x-auth-token"] === token;
      const { status, body, token: issued } = answerOf(request.method ?? "", at, hasToken, await bodyOf(request));
      const headers = issued === undefined ? {} : { "x-subject-token": issued };
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body === undefined ? "" : JSON.stringify(body));
    };
    respond().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
  // It listens on TCP.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    authUrl: `${url}/v3`,
    servers,
    instances: () => servers().map(instanceOf),
    fillUp,
    close: () => new Promise((resolve) => void http.close(() => resolve())),
  };
}
