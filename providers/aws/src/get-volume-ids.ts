import { csiHandleOf, fieldOf } from "@millwright/core/driver-kit";

/** The CSI driver whose volumes are EBS volumes. */
export const ebsCsiDriver = "ebs.csi.aws.com";

/** The id by which nodes report a volume as attached: undefined when it is no EBS volume (machine-controller-manager-provider-aws, `pkg/aws/core.go` GetVolumeIDs). */
export function volumeIdOf(volume: Readonly<Record<string, unknown>>): string | undefined {
  const inTree = fieldOf(volume["awsElasticBlockStore"], "volumeID");
  if (typeof inTree === "string") return readInTreeId(inTree);
  return csiHandleOf(volume, ebsCsiDriver);
}

/** `vol-1`, or `aws://<zone>/vol-1` with or without the zone. */
function readInTreeId(text: string): string | undefined {
  if (!text.startsWith("aws://")) return text === "" ? undefined : text;
  const id = text
    .slice("aws://".length)
    .replace(/^[^/]*/, "")
    .replaceAll(/^\/+|\/+$/g, "");
  return /^vol-[^/]*$/.test(id) ? id : undefined;
}
