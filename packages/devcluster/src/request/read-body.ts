import * as z from "zod";
import { badRequest } from "../errors/status-error.ts";
import type { Json } from "../json/json.ts";

/** The schema of one kind of fault: its name, and the fields that it has. */
export const kindWith = <const Kind extends string, Fields extends z.core.$ZodLooseShape>(kind: Kind, fields: Fields) =>
  z.strictObject({ kind: z.literal(kind), ...fields });

/** What a message lists when a fault has none of the known kinds. */
export const expectedKinds = (kinds: readonly { readonly shape: { readonly kind: z.ZodLiteral } }[]) => ({
  error: `expected one of ${kinds.map(({ shape }) => [...shape.kind.values].join("")).join(", ")}`,
});

/** Reads a request body. Throws 400 with the first field that is wrong, and what is expected. */
export function readBody<T>(schema: z.ZodType<T>, body: Json | undefined, what: string): T {
  const { data, error } = schema.safeParse(body);
  if (error === undefined) return data;
  const [issue] = error.issues;
  throw badRequest([what, issue?.path.join("."), issue?.message].filter(Boolean).join(": "));
}
