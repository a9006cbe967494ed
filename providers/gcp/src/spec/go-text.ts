import * as z from "zod";

/** A text in a list or map as Go's JSON decoder reads it into a `string`: null is empty. */
export const goText = z.preprocess((value) => (value === null ? "" : value), z.string());

/** Texts by their keys, as Go reads them into a `map[string]string`. */
export const goTexts = z.record(z.string(), goText);
