import type { IncomingMessage, ServerResponse } from "node:http";
import { getBuiltinModule } from "node:process";
import { isRecord } from "@millwright/base";

/** A VM of the toy cloud. */
export interface ToyVm {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly image: string;
  readonly size: string;
  readonly disk: string;
  readonly userData: string;
  readonly bootedAtMs: number;
  readonly tags: Record<string, string>;
  /** When its deletion was accepted. */
  deletedAtMs?: number;
  isProtected?: boolean;
}

/** A disk, or another volume that is attached to a VM. */
export interface ToyDisk {
  readonly id: string;
  readonly token: string;
  readonly machine: string;
  vm?: string;
}

/** The state of the toy cloud, which a test may change. */
export interface ToyWorld {
  readonly vms: Map<string, ToyVm>;
  readonly disks: Map<string, ToyDisk>;
  /** Tokens that are accepted. */
  readonly accessTokens: Set<string>;
  readonly images: Set<string>;
  hasQuota: boolean;
  /** Whether VMs that are deleted keep running. */
  isSlow: boolean;
}

/** State of a VM: `terminated` ones stay visible for a while, as in real clouds. */
export type ToyState = "booting" | "running" | "terminating" | "terminated";

const visibleMs = 100;

/** The state of a VM now; undefined once it is forgotten. */
export function stateOf(world: ToyWorld, { bootedAtMs, deletedAtMs }: ToyVm, nowMs: number): ToyState | undefined {
  if (deletedAtMs === undefined) return nowMs < bootedAtMs ? "booting" : "running";
  if (world.isSlow) return "terminating";
  return nowMs < deletedAtMs + visibleMs ? "terminated" : undefined;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

const failure = (status: number, code: string): Answer => ({
  status,
  body: { error: { code, message: `toy: ${code}` } },
});

const pageSize = 100;

function createVm(
  world: ToyWorld,
  body: Readonly<Record<string, unknown>>,
  nowMs: number,
  nextId: () => number,
): Answer {
  const text = (key: string): string => (typeof body[key] === "string" ? body[key] : "");
  const same = [...world.vms.values()].find(
    ({ token, deletedAtMs }) => token === text("token") && deletedAtMs === undefined,
  );
  if (same !== undefined) return { status: 200, body: { id: same.id } };
  if (!world.images.has(text("image"))) return failure(400, "bad-image");
  if (!world.hasQuota) return failure(403, "quota");
  const tags = isRecord(body["tags"]) ? Object.entries(body["tags"]).map(([key, value]) => [key, String(value)]) : [];
  const vm: ToyVm = {
    id: `vm-${nextId()}`,
    name: text("name"),
    token: text("token"),
    image: text("image"),
    size: text("size"),
    disk: text("disk"),
    userData: text("userData"),
    bootedAtMs: nowMs + Number(body["bootMs"] ?? 0),
    tags: Object.fromEntries(tags),
  };
  world.vms.set(vm.id, vm);
  const disk = world.disks.get(vm.disk);
  if (disk !== undefined) disk.vm = vm.id;
  return { status: 201, body: { id: vm.id } };
}

function createDisk(world: ToyWorld, body: Readonly<Record<string, unknown>>, nextId: () => number): Answer {
  const token = String(body["token"]);
  const same = [...world.disks.values()].find((disk) => disk.token === token);
  const disk = same ?? { id: `disk-${nextId()}`, token, machine: String(body["machine"]) };
  world.disks.set(disk.id, disk);
  return { status: 201, body: { id: disk.id } };
}

function ofVm(
  world: ToyWorld,
  method: string,
  id: string,
  body: Readonly<Record<string, unknown>>,
  nowMs: number,
): Answer {
  const vm = world.vms.get(id);
  const state = vm === undefined ? undefined : stateOf(world, vm, nowMs);
  if (vm === undefined || state === undefined) return failure(404, "no-vm");
  if (method === "DELETE") {
    if (vm.isProtected === true) return failure(409, "protected");
    vm.deletedAtMs ??= nowMs;
  } else if (method === "PATCH" && isRecord(body["tags"])) {
    for (const [key, value] of Object.entries(body["tags"])) vm.tags[key] = String(value);
  }
  return { status: 200, body: { vm: { ...vm, state: stateOf(world, vm, nowMs) } } };
}

function handle(
  world: ToyWorld,
  method: string,
  url: URL,
  body: Readonly<Record<string, unknown>>,
  nextId: () => number,
  nowMs: number,
): Answer {
  const [, kind, id = ""] = url.pathname.split("/");
  const machine = url.searchParams.get("machine");
  if (kind === "images") return world.images.has(id) ? { status: 200, body: {} } : failure(404, "no-image");
  if (kind === "disks") {
    if (method === "POST") return createDisk(world, body, nextId);
    if (method === "DELETE") return { status: world.disks.delete(id) ? 200 : 404, body: {} };
    return { status: 200, body: { disks: [...world.disks.values()].filter((disk) => disk.machine === machine) } };
  }
  if (kind !== "vms") return failure(400, "bad-path");
  if (method === "POST") return createVm(world, body, nowMs, nextId);
  if (id !== "") return ofVm(world, method, id, body, nowMs);
  const all = [...world.vms.values()].flatMap((vm) => {
    const state = stateOf(world, vm, nowMs);
    return state === undefined || (machine !== null && vm.name !== machine) ? [] : [{ ...vm, state }];
  });
  // Pages continue after an id, so that VMs that come and go shift nothing.
  const after = Number(url.searchParams.get("after") ?? "0");
  const rest = all.filter((vm) => Number(vm.id.slice(3)) > after);
  const page = rest.slice(0, pageSize);
  const next = rest.length > page.length ? (page.at(-1)?.id.slice(3) ?? "") : "";
  return { status: 200, body: { vms: page, next } };
}

async function readJson(incoming: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  let text = "";
  for await (const chunk of incoming) text += String(chunk);
  const body: unknown = text === "" ? {} : JSON.parse(text);
  return isRecord(body) ? body : {};
}

/** Starts the toy cloud: VMs with a disk each, over HTTP, in memory. */
export async function startToyCloud(nowMs: () => number) {
  const world: ToyWorld = {
    vms: new Map(),
    disks: new Map(),
    accessTokens: new Set(["toy-token-first-123456"]),
    images: new Set(["linux", "other"]),
    hasQuota: true,
    isSlow: false,
  };
  let lastId = 0;
  const nextId = (): number => ++lastId;
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readJson(incoming);
    const token = (incoming.headers.authorization ?? "").replace("Bearer ", "");
    const url = new URL(incoming.url ?? "/", "http://toy.invalid");
    const { status, body: reply } = world.accessTokens.has(token)
      ? handle(world, incoming.method ?? "GET", url, body, nextId, nowMs())
      : failure(401, "unauthenticated");
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(reply ?? {}));
  };
  const server = getBuiltinModule("node:http").createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    world,
    nextId,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
