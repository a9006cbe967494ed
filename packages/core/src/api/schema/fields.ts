import * as z from "zod";
import { atLeastZero, isAmountOrPercent, isGoDuration } from "./rules.ts";

/*
 * The building blocks of the schemas. Each takes the field's description, which is what `kubectl explain` prints. Keys of
 * `.meta()` that a CustomResourceDefinition knows (`format`, `x-kubernetes-…`) go into it; see structural-schema.ts.
 *
 * Two ways to be absent: `.exactOptional()` is a field that may be missing in memory, too; `.prefault({})` is a part that a
 * Go program always has because it is a struct, so that the reader fills in an empty object and the type need not doubt it.
 * The CustomResourceDefinition requires neither.
 */

/** Text. */
export const text = (description: string) => z.string().meta({ description });

/** A whole number of 32 bits. */
export const int32 = (description: string) => z.int32().meta({ description, format: "int32" });

/** A whole number of 32 bits that a user sets and that is zero or more; the reader takes any, `validate*` and the API server do not. */
export const count = (description: string) => int32(description).meta({ "x-kubernetes-validations": [atLeastZero] });

/** A duration as Go writes it. */
export const goDuration = (description: string) =>
  text(description).meta({ "x-kubernetes-validations": [isGoDuration] });

/** A whole number of 64 bits; beyond 2^53 JSON in JavaScript is not exact, so such numbers are rejected on reading. */
export const int64 = (description: string) => z.int().meta({ description, format: "int64" });

/** True or false. */
export const flag = (description: string) => z.boolean().meta({ description });

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/**
 * An instant as RFC 3339 text. The zero time of Go, which is null on the wire, is read as absent. A text that is no time is
 * rejected here, because every comparison with it would be false: a timeout would never come.
 */
export const timestamp = (description: string) =>
  z
    .string()
    .refine((time) => rfc3339.test(time) && !Number.isNaN(Date.parse(time)), "a time such as 2026-01-31T12:00:00Z")
    .meta({ description, format: "date-time" });

/** A list that is replaced as a whole by server-side apply. */
export const atomicList = <Item extends z.ZodType>(item: Item, description: string) =>
  z.array(item).meta({ description, "x-kubernetes-list-type": "atomic" });

/** A list of distinct texts. */
export const setOfText = (description: string) =>
  z.array(z.string()).meta({ description, "x-kubernetes-list-type": "set" });

/** A map from text to text. */
export const textMap = (description: string) => z.record(z.string(), z.string()).meta({ description });

/** A whole number or a percentage such as `25%`. */
export const intOrPercent = (description: string) =>
  z
    .union([z.int32(), z.string()])
    .meta({ description, "x-kubernetes-int-or-string": true, "x-kubernetes-validations": [isAmountOrPercent] });

/** The text form of a Kubernetes quantity, such as `500m`, `2` or `1.5Gi`. Source: apimachinery, resource.Quantity. */
export const quantityPattern =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

/** Amounts by resource name. */
export const resourceList = (description: string) =>
  z
    .record(
      z.string(),
      z.union([z.int(), z.string().regex(new RegExp(quantityPattern), "a quantity such as 4, 500m or 16Gi")]).meta({
        pattern: quantityPattern,
        "x-kubernetes-int-or-string": true,
      }),
    )
    .meta({ description });
