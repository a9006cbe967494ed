import { ConfigError } from "@millwright/base";

/** Files for drivers at `grpcs://` addresses. */
export interface ProviderTlsFlags {
  readonly providerTlsCa?: string;
  readonly providerTlsCert?: string;
  readonly providerTlsKey?: string;
}

/** Whether a value of `--provider` is the address of a driver, and not a name. Other parts of it are read when it is connected. */
export const isAddress = (name: string): boolean => /^(unix|grpcs?):/i.test(name);

/** @throws ConfigError when some of the files are missing */
export function tlsOf({ providerTlsCa: ca, providerTlsCert: cert, providerTlsKey: key }: ProviderTlsFlags) {
  if (ca === undefined && cert === undefined && key === undefined) return {};
  if (ca === undefined || cert === undefined || key === undefined)
    throw new ConfigError("--provider-tls-ca, --provider-tls-cert and --provider-tls-key: use all of them, or none");
  return { tls: { ca, cert, key } };
}
