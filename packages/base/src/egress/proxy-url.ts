import { ConfigError } from "../config-error.ts";

const schemes: ReadonlySet<string> = new Set(["http:", "https:", "socks5:", "socks5h:"]);

/**
 * Reads the URL of a proxy: `http`, `https`, `socks5` or `socks5h` (the same: the proxy resolves names), with user and password where the proxy wants them. Without a scheme it is `http`.
 *
 * @param source what the URL was read from, for the message: `HTTPS_PROXY`
 * @throws ConfigError that does not repeat the URL, which may hold a password
 */
export function readProxyUrl(text: string, source: string): URL {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const url = URL.parse(hasScheme ? text : `http://${text}`);
  if (url === null || url.hostname === "" || !schemes.has(url.protocol)) {
    throw new ConfigError(
      `${source} is not the URL of a proxy; expected http://host:port, https://host:port or socks5://host:port`,
    );
  }
  return url;
}

/** The proxy as it may be shown: without user and password. */
export const proxyName = ({ protocol, host }: URL): string => `${protocol}//${host}`;
