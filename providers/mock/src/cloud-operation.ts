/** The calls that the cloud counts and that faults can hit. */
export const cloudOperations = ["create", "get", "list", "delete", "tag", "power", "userData", "changes"] as const;

/** One of {@link cloudOperations}. */
export type CloudOperation = (typeof cloudOperations)[number];
