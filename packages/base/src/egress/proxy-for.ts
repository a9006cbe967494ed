import { BlockList, isIP } from "node:net";
import { readProxyUrl } from "./proxy-url.ts";

/** Environment variables, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4");

/** Addresses that a proxy cannot reach for us: this machine, and metadata servers, which answer by where the request comes from. */
const local = new BlockList();
local.addSubnet("127.0.0.0", 8);
local.addAddress("::1", "ipv6");
local.addSubnet("169.254.0.0", 16);
local.addSubnet("fe80::", 10, "ipv6");
local.addSubnet("fd00:ec2::", 32, "ipv6");
const localNames: ReadonlySet<string> = new Set(["localhost", "metadata.google.internal", "metadata"]);

/** Where a connection goes: a name in lower case or an address without brackets, and a port. */
interface Destination {
  readonly host: string;
  readonly port: string;
}

function destinationOf(url: URL): Destination {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return { host, port: url.port || (url.protocol === "https:" ? "443" : "80") };
}

/**
 * The proxy for a request, as the environment has it: `HTTPS_PROXY` for `https` URLs, `HTTP_PROXY` for `http` URLs, also in lower case, and `NO_PROXY` for what is
 * requested directly. The rules are those of Go (golang.org/x/net/http/httpproxy), so that Millwright uses the same proxy as kubectl and MCM in the same environment:
 *
 * - `NO_PROXY` is a list with commas. `*` is everything; an address, a range (`10.0.0.0/8`) or a name with all names below it (`example.com`); `.example.com` and `*.example.com` are the
 *   names below it alone; each but a range may end with a port.
 * - This machine (`localhost`, `127.0.0.0/8`, `::1`) is never requested through a proxy.
 *
 * Two rules are our own: metadata servers of clouds and other link-local addresses are never requested through a proxy, and an invalid URL is an error.
 *
 * @throws ConfigError for a variable that is not the URL of a proxy
 */
export function proxyFor(url: URL, env: Environment): URL | undefined {
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : url.protocol === "http:" ? "HTTP_PROXY" : undefined;
  const text = name === undefined ? "" : variable(env, name);
  if (name === undefined || text === "") return undefined;
  const destination = destinationOf(url);
  return isLocal(destination) || isExempt(destination, variable(env, "NO_PROXY"))
    ? undefined
    : readProxyUrl(text, name);
}

const variable = (env: Environment, name: string): string => env[name] || env[name.toLowerCase()] || "";

const isLocal = ({ host }: Destination): boolean =>
  localNames.has(host) || (isIP(host) !== 0 && local.check(host, familyOf(host)));

const isExempt = (destination: Destination, noProxy: string): boolean =>
  noProxy.split(",").some((entry) => matches(entry.trim().toLowerCase(), destination));

/** An entry with a port: `host:port` or `[address]:port`; a bare IPv6 address has none. */
const withPort = /^(?:\[([^\]]*)\]|([^:]*)):([^:]*)$/;

function matches(entry: string, { host, port }: Destination): boolean {
  if (entry === "") return false;
  if (entry === "*") return true;
  const range = rangeOf(entry);
  if (range !== undefined) return isIP(host) !== 0 && range.check(host, familyOf(host));
  const [, bracketed, plain, onlyPort = ""] = withPort.exec(entry) ?? [];
  const name = bracketed ?? plain ?? entry;
  if (name === "" || (onlyPort !== "" && onlyPort !== port)) return false;
  if (isIP(name) !== 0) return isIP(host) !== 0 && listOf(name).check(host, familyOf(host));
  if (isIP(host) !== 0) return false;
  const suffix = name.startsWith("*.") ? name.slice(1) : name;
  return suffix.startsWith(".") ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`);
}

/** A list instead of a comparison: an address has several spellings. */
function listOf(address: string): BlockList {
  const list = new BlockList();
  list.addAddress(address, familyOf(address));
  return list;
}

function rangeOf(entry: string): BlockList | undefined {
  const [address = "", prefix = "", ...rest] = entry.split("/");
  const family = familyOf(address);
  if (isIP(address) === 0 || !/^\d{1,3}$/.test(prefix) || rest.length > 0) return undefined;
  if (Number(prefix) > (family === "ipv6" ? 128 : 32)) return undefined;
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), family);
  return list;
}
