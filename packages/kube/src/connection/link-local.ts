import dns from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** Addresses of which each machine or cloud has its own: behind them are metadata servers, which hand out credentials. */
const metadataAddresses = new BlockList();
metadataAddresses.addSubnet("169.254.0.0", 16, "ipv4");
metadataAddresses.addSubnet("fe80::", 10, "ipv6");
// Metadata servers beyond the link-local ranges: Alibaba, Azure, Oracle, AWS over IPv6, Google over IPv6.
for (const address of ["100.100.100.200", "168.63.129.16", "192.0.0.192"])
  metadataAddresses.addAddress(address, "ipv4");
for (const address of ["fd00:ec2::254", "fd20:ce::254"]) metadataAddresses.addAddress(address, "ipv6");

/** Names of metadata servers. Others are recognized by the address that they resolve to. */
const metadataNames: ReadonlySet<string> = new Set([
  "instance-data",
  "instance-data.ec2.internal",
  "metadata",
  "metadata.goog",
  "metadata.google.internal",
]);

/** Whether an address is link-local, or that of a metadata server. False for other texts. */
function isLinkLocal(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && metadataAddresses.check(address, family === 6 ? "ipv6" : "ipv4");
}

/** Whether a URL names a link-local address or a metadata server. What its name resolves to is not looked up. */
export function isLinkLocalUrl(url: URL): boolean {
  const host = url.hostname.replaceAll(/^\[|\]$/g, "");
  return isLinkLocal(host) || metadataNames.has(host.replace(/\.$/, ""));
}

/** As `dns.lookup`, but fails for a name that resolves to a link-local address. */
export const lookupWithoutLinkLocal: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, options, (error, address, family) => {
    const found = typeof address === "string" ? [address] : (address ?? []).map((each) => each.address);
    const rejected = error === null ? found.find(isLinkLocal) : undefined;
    if (rejected === undefined) return callback(error, address, family);
    const problem = new Error(`${hostname} resolves to ${rejected}, a link-local address, which is not allowed here`);
    callback(Object.assign(problem, { code: "ENOTFOUND" }), address, family);
  });
};
