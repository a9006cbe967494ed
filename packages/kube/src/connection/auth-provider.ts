import { type Clock, ConfigError, isRecord } from "@millwright/base";
import { parseJson } from "../json/parse-json.ts";

/** Programs that replaced the providers which kubectl has removed. */
const plugins: Readonly<Record<string, string>> = {
  gcp: "gke-gcloud-auth-plugin",
  azure: "kubelogin of Azure",
};

/** When a JSON Web Token expires, wall clock, milliseconds; undefined for what is none. Source: RFC 7519, `exp`. */
function expiryOf(token: string): number | undefined {
  try {
    const claims = parseJson(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    const seconds = isRecord(claims) ? claims["exp"] : undefined;
    return typeof seconds === "number" ? seconds * 1_000 : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The bearer token of the `auth-provider` of a user. That of OpenID is used until it expires. To renew it here would use up the refresh token, of which kubectl keeps a copy: kubectl renews it and writes both into the
 * kubeconfig, which is read again then.
 *
 * @param where start of each message
 * @throws ConfigError for another provider than `oidc`, and from the returned function when there is no token or it has expired: nothing is sent without credentials
 */
export function authProviderToken(
  provider: Readonly<Record<string, unknown>>,
  where: string,
  clock: Pick<Clock, "now">,
): () => string {
  const name = String(provider["name"]);
  const plugin = plugins[name] ?? "a credential plugin";
  if (name !== "oidc")
    throw new ConfigError(`${where}: auth-provider ${JSON.stringify(name)} is not supported; use exec with ${plugin}`);
  const config = isRecord(provider["config"]) ? provider["config"] : {};
  for (const field of ["idp-issuer-url", "client-id"])
    if (!config[field]) throw new ConfigError(`${where}: auth-provider "oidc": config.${field} is missing`);
  const token = config["id-token"];
  return () => {
    const expiresMs = typeof token === "string" ? expiryOf(token) : undefined;
    if (typeof token === "string" && expiresMs !== undefined && expiresMs > clock.now().getTime()) return token;
    const what = expiresMs === undefined ? "has no id-token" : "has an id-token that has expired";
    throw new ConfigError(
      `${where}: auth-provider "oidc" ${what}; run kubectl once, which renews it in the file, or use exec with kubelogin`,
    );
  };
}
