import type { Environment } from "@marcbachmann/cel-js";
import { isIPv4, isIPv6 } from "node:net";

type Family = 4 | 6;

function familyOf(text: string): Family | undefined {
  // Kubernetes accepts neither zones nor IPv4-mapped IPv6.
  if (isIPv4(text)) return 4;
  return isIPv6(text) && !text.includes("%") && !text.includes(".") ? 6 : undefined;
}

/** The bits of an address as one number. */
function bitsOf(text: string, family: Family): bigint {
  if (family === 4) return text.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n);
  const [head = "", tail] = text.split("::");
  const groups = (part: string): readonly string[] => (part === "" ? [] : part.split(":"));
  const [left, right] = [groups(head), groups(tail ?? "")];
  const middle = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...middle, ...right].reduce((value, part) => (value << 16n) | BigInt(`0x${part}`), 0n);
}

function textOf(bits: bigint, family: Family): string {
  const parts = (count: number, width: bigint): readonly bigint[] =>
    Array.from({ length: count }, (_, index) => (bits >> (width * BigInt(count - 1 - index))) & ((1n << width) - 1n));
  if (family === 4) return parts(4, 8n).join(".");
  const hex = parts(8, 16n).map((part) => part.toString(16));
  const runs = [...hex.join(":").matchAll(/(?<![0-9a-f])0(?::0)+(?![0-9a-f])/g)].map((match) => match[0]);
  const longest = runs.toSorted((a, b) => b.length - a.length)[0];
  const text = hex.join(":");
  return longest === undefined
    ? text
    : text
        .replace(longest, ":")
        .replace(/:{2,}/, "::")
        .replace(/^:(?!:)/, "::");
}

class Ip {
  readonly #family: Family;
  readonly #bits: bigint;

  constructor(family: Family, bits: bigint) {
    this.#family = family;
    this.#bits = bits;
  }

  static parse(text: string): Ip {
    const family = familyOf(text);
    if (family === undefined) throw new Error(`IP Address "${text}" parse error during conversion from string`);
    return new Ip(family, bitsOf(text, family));
  }

  get family(): Family {
    return this.#family;
  }

  get bits(): bigint {
    return this.#bits;
  }

  toString(): string {
    return textOf(this.#bits, this.#family);
  }

  isIn(...blocks: readonly string[]): boolean {
    return blocks.some((block) => {
      const cidr = Cidr.parse(block);
      return cidr.contains(this);
    });
  }
}

class Cidr {
  readonly #ip: Ip;
  readonly #length: number;

  constructor(ip: Ip, length: number) {
    this.#ip = ip;
    this.#length = length;
  }

  static parse(text: string): Cidr {
    const [, address = "", length = ""] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
    const family = familyOf(address);
    if (family === undefined || Number(length) > (family === 4 ? 32 : 128)) {
      throw new Error("network address parse error during conversion from string");
    }
    return new Cidr(Ip.parse(address), Number(length));
  }

  get ip(): Ip {
    return this.#ip;
  }

  get length(): number {
    return this.#length;
  }

  get #shift(): bigint {
    return BigInt((this.#ip.family === 4 ? 32 : 128) - this.#length);
  }

  contains(ip: Ip): boolean {
    return ip.family === this.#ip.family && ip.bits >> this.#shift === this.#ip.bits >> this.#shift;
  }

  masked(): Cidr {
    return new Cidr(new Ip(this.#ip.family, (this.#ip.bits >> this.#shift) << this.#shift), this.#length);
  }

  toString(): string {
    return `${this.#ip.toString()}/${this.#length}`;
  }
}

class IpFunctions {
  readonly namespace = "ip";
}

function succeeds(parse: () => unknown): boolean {
  try {
    return parse() !== undefined;
  } catch {
    return false;
  }
}

const isGlobal = (ip: Ip): boolean =>
  !ip.isIn("0.0.0.0/32", "255.255.255.255/32", "127.0.0.0/8", "224.0.0.0/4", "169.254.0.0/16") &&
  !ip.isIn("::/128", "::1/128", "ff00::/8", "fe80::/10");

/** Adds `ip()`, `cidr()` and their methods. Source: Kubernetes documentation, "IP address" and "CIDR library". */
export function addAddresses(environment: Environment): Environment {
  return environment
    .registerType("Ip", Ip)
    .registerType("Cidr", Cidr)
    .registerType("IpFunctions", IpFunctions)
    .registerConstant("ip", "IpFunctions", new IpFunctions())
    .registerFunction("ip(string): Ip", (text: string) => Ip.parse(text))
    .registerFunction("isIP(string): bool", (text: string) => familyOf(text) !== undefined)
    .registerFunction(
      "IpFunctions.isCanonical(string): bool",
      (_: IpFunctions, text: string) => Ip.parse(text).toString() === text,
    )
    .registerFunction("string(Ip): string", (ip: Ip) => ip.toString())
    .registerFunction("Ip.family(): int", (ip: Ip) => BigInt(ip.family))
    .registerFunction("Ip.isUnspecified(): bool", (ip: Ip) => ip.bits === 0n)
    .registerFunction("Ip.isLoopback(): bool", (ip: Ip) => ip.isIn("127.0.0.0/8", "::1/128"))
    .registerFunction("Ip.isLinkLocalMulticast(): bool", (ip: Ip) => ip.isIn("224.0.0.0/24", "ff02::/16"))
    .registerFunction("Ip.isLinkLocalUnicast(): bool", (ip: Ip) => ip.isIn("169.254.0.0/16", "fe80::/10"))
    .registerFunction("Ip.isGlobalUnicast(): bool", isGlobal)
    .registerOperator("Ip == Ip", (a: Ip, b: Ip) => a.family === b.family && a.bits === b.bits)
    .registerFunction("cidr(string): Cidr", (text: string) => Cidr.parse(text))
    .registerFunction("isCIDR(string): bool", (text: string) => succeeds(() => Cidr.parse(text)))
    .registerFunction("string(Cidr): string", (cidr: Cidr) => cidr.toString())
    .registerFunction("Cidr.containsIP(Ip): bool", (cidr: Cidr, ip: Ip) => cidr.contains(ip))
    .registerFunction("Cidr.containsIP(string): bool", (cidr: Cidr, text: string) => cidr.contains(Ip.parse(text)))
    .registerFunction("Cidr.containsCIDR(Cidr): bool", containsCidr)
    .registerFunction("Cidr.containsCIDR(string): bool", (cidr: Cidr, text: string) =>
      containsCidr(cidr, Cidr.parse(text)),
    )
    .registerFunction("Cidr.ip(): Ip", (cidr: Cidr) => cidr.ip)
    .registerFunction("Cidr.masked(): Cidr", (cidr: Cidr) => cidr.masked())
    .registerFunction("Cidr.prefixLength(): int", (cidr: Cidr) => BigInt(cidr.length))
    .registerOperator("Cidr == Cidr", (a: Cidr, b: Cidr) => a.toString() === b.toString());
}

function containsCidr(outer: Cidr, inner: Cidr): boolean {
  return outer.contains(inner.ip) && outer.length <= inner.length;
}
