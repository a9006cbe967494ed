/**
 * The part of Standard Schema version 1 (https://standardschema.dev) that the driver contract reads. Schemas of Zod, Valibot,
 * ArkType and others have it, so a driver validates with the library that its author likes, and the host needs none of them.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaProps<Input, Output>;
}

/** The properties under `~standard`. */
export interface StandardSchemaProps<Input = unknown, Output = Input> {
  readonly version: 1;
  /** The library that the schema was made with. */
  readonly vendor: string;
  /** Checks a value; gives the value to go on with, with defaults filled in, or the issues. */
  readonly validate: (value: unknown) => StandardSchemaResult<Output> | Promise<StandardSchemaResult<Output>>;
  /** Carries the types to the compiler; nothing at run time. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
}

/** What a validation gives: a value and no issues, or issues. */
export type StandardSchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardSchemaIssue[] };

/** One thing that is wrong, and where. */
export interface StandardSchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
