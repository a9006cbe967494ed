import { fieldOf } from "./call-failure.ts";

/**
 * The handle of a volume of a CSI driver, by which nodes report the volume as attached. Undefined for the volume of another driver, and for one without a handle.
 *
 * @param volume `spec` of a persistent volume
 */
export function csiHandleOf({ csi }: Readonly<Record<string, unknown>>, driver: string): string | undefined {
  const handle = fieldOf(csi, "driver") === driver ? fieldOf(csi, "volumeHandle") : undefined;
  return typeof handle === "string" && handle !== "" ? handle : undefined;
}
