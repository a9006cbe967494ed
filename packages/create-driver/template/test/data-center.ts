/**
 * A cloud to start with: VMs over HTTP, in memory. Tests start it in their process; `node test/data-center.ts` starts it by itself.
 *
 * It does what authors of drivers expect least of a cloud, and what real ones do: the constants below.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";

/** VMs on a page of a list. */
export const pageSize = 10;
/** For how long lists do not show a new VM, milliseconds. */
export const hiddenMs = 30;
/** For how long a VM exists after its deletion was accepted, milliseconds. */
const deletionMs = 30;
/** Requests in a second. Further ones are answered 429, with `Retry-After`. */
const defaultLimit = 400;

interface StoredVm {
  readonly id: string;
  readonly token: string;
  readonly size: string;
  readonly userData: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly listedAtMs: number;
}

/** Starts the cloud. */
export async function startDataCenter(token: string, { port = 0, requestsPerSecond = defaultLimit } = {}) {
  const vms = new Map<string, StoredVm>();
  const tokens = new Set([token]);
  let second = 0;
  let requests = 0;
  const add = (vm: Omit<StoredVm, "id" | "listedAtMs">, listedAtMs = 0): StoredVm => {
    const same = [...vms.values()].find((each) => each.token === vm.token);
    const added = same ?? { ...vm, id: `i-${crypto.randomUUID()}`, listedAtMs };
    vms.set(added.id, added);
    return added;
  };
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const answer = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(value));
    };
    const nowMs = performance.now();
    if (Math.floor(nowMs / 1_000) > second) [second, requests] = [Math.floor(nowMs / 1_000), 0];
    if (++requests > requestsPerSecond) return answer(429, {}, { "retry-after": "1" });
    if (!tokens.has((request.headers.authorization ?? "").replace("Bearer ", ""))) return answer(401, {});
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (request.method === "POST") return answer(200, add(JSON.parse(body), nowMs + hiddenMs));
    if (request.method === "DELETE") {
      const id = pathname.split("/").at(-1) ?? "";
      setTimeout(() => vms.delete(id), deletionMs);
      return answer(202, {});
    }
    const machine = searchParams.get("machine");
    const rest = [...vms.values()]
      .filter(({ tags, listedAtMs }) => listedAtMs <= nowMs && (machine === null || tags["machine"] === machine))
      .filter(({ id }) => id > (searchParams.get("after") ?? ""))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const page = rest.slice(0, pageSize);
    answer(200, { vms: page, next: rest.length > page.length ? page.at(-1)?.id : "" });
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : port}`;
  return { url, vms, add, tokens, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startDataCenter("token-of-the-data-center", { port: 7070 });
  console.log(`The data center listens at ${url}`);
}
