/** The environment of a script that npm runs. */
interface ScriptEnvironment {
  readonly npm_package_name?: string;
  readonly npm_lifecycle_event?: string;
  /** Where npm was called. */
  readonly INIT_CWD?: string;
}

/** Where `npm run millwright` of a checkout was called, from which relative paths start: npm runs scripts in the root of the checkout. `undefined` for every other call. */
export const callerFolder = (environment: ScriptEnvironment): string | undefined =>
  environment.npm_package_name === "millwright" && environment.npm_lifecycle_event === "millwright"
    ? environment.INIT_CWD
    : undefined;
