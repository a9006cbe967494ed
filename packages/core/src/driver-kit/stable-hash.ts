import { createHash } from "node:crypto";

/**
 * A hash of plain JSON that does not depend on the order of keys; 64 hexadecimal digits. For comparing the spec of a VM, and for comparing
 * credentials without storing them.
 */
export const stableHash = (value: unknown): string => createHash("sha256").update(canonicalJson(value)).digest("hex");

/** The hash that a VM carries of the spec it was created from, 16 hexadecimal digits. Secret and user data are not part of a spec. */
export const specHashOf = (spec: unknown): string => stableHash(spec).slice(0, 16);

function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? ""
  );
}
