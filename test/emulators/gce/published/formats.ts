/** The context of a text. */
export interface FormatContext {
  /** Whether it is in a request; responses have full URLs. */
  readonly isRequest: boolean;
  readonly project: string;
  readonly zone: string;
}

/** Why a text is invalid; undefined if it is valid. */
type Format = (text: string, context: FormatContext) => string | undefined;

const name = "[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?";
const origin = "https://(?:www|compute)\\.googleapis\\.com/compute/v1/";
const escaped = (text: string): string => text.replaceAll(/[.:]/g, "\\$&");

/** Patterns are cached: there are lists of hundreds of URLs. */
const compiled = new Map<string, RegExp>();

function fits(pattern: string, text: string): boolean {
  const known = compiled.get(pattern) ?? new RegExp(pattern);
  compiled.set(pattern, known);
  return known.test(text);
}

/** The URL of a resource: in full, or, in requests, relative to the project or its collection. */
const resource =
  (scope: (context: FormatContext) => string, ...collections: readonly string[]): Format =>
  (text, context) => {
    const project = "projects/(?:[a-z0-9.-]+:)?[a-z0-9-]+/";
    const path = `${escaped(scope(context))}/(?:${collections.join("|")})/${name}`;
    if (fits(context.isRequest ? `^(?:(?:${origin})?${project})?${path}$` : `^${origin}${project}${path}$`, text)) {
      return undefined;
    }
    const expected = `${scope(context)}/${collections.join("|")}/…`;
    return `must be an address ${expected}${context.isRequest ? "" : " in full"}, not ${JSON.stringify(text)}`;
  };

const inZone = ({ zone }: FormatContext): string => `zones/${zone}`;
const inRegion = ({ zone }: FormatContext): string => `regions/${zone.slice(0, zone.lastIndexOf("-"))}`;
const isGlobal = (): string => "global";

const zonal = (...collections: readonly string[]): Format => resource(inZone, ...collections);

const matching =
  (pattern: RegExp, what: string): Format =>
  (text) =>
    pattern.test(text) ? undefined : `must be ${what}, not ${JSON.stringify(text)}`;

const resourceName = matching(new RegExp(`^${name}$`), "a name of RFC 1035");
const timestamp = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/, "a time of RFC 3339");
const base64 = matching(/^[A-Za-z0-9+/_-]+={0,2}$/, "a fingerprint in base64");
const address = matching(/^(\d{1,3}\.){3}\d{1,3}$/, "an IPv4 address");
const requestId = matching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, "a UUID");
const labelValue = matching(/^[-_\p{Ll}\p{Lo}\p{N}]{0,63}$/u, "the value of a label");

const zoneAddress: Format = (text, context) =>
  fits(`^${origin}projects/[^/]+/zones/${escaped(context.zone)}$`, text)
    ? undefined
    : `must be the address of zone ${context.zone} in full, not ${JSON.stringify(text)}`;

/** An image, by its name or its family, of any project. */
const image: Format = (text, { isRequest }) =>
  fits(
    `^${isRequest ? `(?:${origin})?(?:projects/[^/]+/)?` : `${origin}projects/[^/]+/`}global/images/(?:family/)?${name}$`,
    text,
  )
    ? undefined
    : `must be the address of an image, not ${JSON.stringify(text)}`;

/**
 * Formats of text fields by message and field, from their descriptions in Compute Engine's API reference (REST v1): the model only declares them as texts.
 */
const formats: Readonly<Record<string, Format>> = {
  "AcceleratorConfig.acceleratorType": zonal("acceleratorTypes"),
  "AccessConfig.natIP": address,
  "AliasIpRange.ipCidrRange": matching(/^(\/\d{1,2}|[\d.]+(\/\d{1,2})?)$/, "a range or its length"),
  "AttachedDisk.source": zonal("disks"),
  "AttachedDiskInitializeParams.diskName": resourceName,
  "AttachedDiskInitializeParams.diskType": zonal("diskTypes"),
  "AttachedDiskInitializeParams.labels": labelValue,
  "AttachedDiskInitializeParams.sourceImage": image,
  "AttachedDiskInitializeParams.storagePool": zonal("storagePools"),
  "Disk.creationTimestamp": timestamp,
  "Disk.labelFingerprint": base64,
  "Disk.labels": labelValue,
  "Disk.name": resourceName,
  "Disk.selfLink": zonal("disks"),
  "Disk.sourceImage": image,
  "Disk.type": zonal("diskTypes"),
  "Disk.users": zonal("instances"),
  "Disk.zone": zoneAddress,
  "Instance.creationTimestamp": timestamp,
  "Instance.fingerprint": base64,
  "Instance.labelFingerprint": base64,
  "Instance.labels": labelValue,
  "Instance.machineType": zonal("machineTypes"),
  "Instance.name": resourceName,
  "Instance.selfLink": zonal("instances"),
  "Instance.zone": zoneAddress,
  "Items.key": matching(/^[-_A-Za-z0-9]{1,127}$/, "a key of metadata"),
  "MachineType.selfLink": zonal("machineTypes"),
  "MachineType.zone": (text, { zone }) => (text === zone ? undefined : `must be ${zone}`),
  "Metadata.fingerprint": base64,
  "NetworkInterface.fingerprint": base64,
  "NetworkInterface.network": resource(isGlobal, "networks"),
  "NetworkInterface.networkIP": address,
  "NetworkInterface.subnetwork": resource(inRegion, "subnetworks"),
  "Operation.endTime": timestamp,
  "Operation.insertTime": timestamp,
  "Operation.selfLink": zonal("operations"),
  "Operation.startTime": timestamp,
  "Operation.targetLink": zonal("instances", "disks"),
  "Operation.zone": zoneAddress,
  "Tags.fingerprint": base64,
  "Tags.items": resourceName,
};

const labelKey = /^[\p{Ll}\p{Lo}][-_\p{Ll}\p{Lo}\p{N}]{0,62}$/u;

/** Why a key of a map is invalid; undefined if it is valid. */
export const keyProblem = (field: string, key: string): string | undefined =>
  field === "labels" && !labelKey.test(key) ? "must be the key of a label" : undefined;

/** The kinds of messages, such as `compute#instance`. */
const kindOf = (message: string): string => `compute#${message.charAt(0).toLowerCase()}${message.slice(1)}`;

/** The check of a text field; undefined where any text is valid. */
export function formatOf(
  message: string,
  field: string,
  context: FormatContext,
): ((text: string) => string | undefined) | undefined {
  if (field === "requestId") return (text) => requestId(text, context);
  if (field === "kind") {
    return (text) => (text === kindOf(message) ? undefined : `must be ${kindOf(message)}, not ${JSON.stringify(text)}`);
  }
  const format = formats[`${message}.${field}`];
  return format === undefined ? undefined : (text) => format(text, context);
}
