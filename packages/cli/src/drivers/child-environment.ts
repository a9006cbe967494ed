/** What a driver in a process of its own gets of our environment: to find programs, to reach its cloud through a proxy, and to trust its certificates. */
const passed: readonly string[] = [
  "PATH",
  "TZ",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "https_proxy",
  "http_proxy",
  "all_proxy",
  "no_proxy",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];

/** The environment of a driver in a process of its own: nothing but {@link passed} and what the user names. In particular no KUBECONFIG and no credentials of clouds. */
export const childEnvironment = (env: NodeJS.ProcessEnv, named: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    [...passed, ...named].flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
