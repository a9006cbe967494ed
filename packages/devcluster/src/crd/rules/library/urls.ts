import type { Environment } from "@marcbachmann/cel-js";

/** A URL in rules: absolute, or a path that begins at the root. */
class Url {
  readonly #url: URL;
  readonly #text: string;
  readonly #isPath: boolean;

  constructor(text: string) {
    this.#isPath = text.startsWith("/");
    this.#text = text;
    const isAbsolute = /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text);
    if (!this.#isPath && !isAbsolute) throw new Error(`URL parse error during conversion from string: "${text}"`);
    this.#url = new URL(text, "http://path.invalid");
  }

  get scheme(): string {
    return this.#isPath ? "" : this.#url.protocol.slice(0, -1);
  }

  /** The host with its port as written: a URL object leaves out default ports. */
  get host(): string {
    if (this.#isPath) return "";
    return /^[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]*)/.exec(this.#text)?.[1] ?? "";
  }

  get hostname(): string {
    return this.host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
  }

  get port(): string {
    return /:(\d+)$/.exec(this.host)?.[1] ?? "";
  }

  get path(): string {
    const isBare = this.#url.pathname === "/" && !/^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*)?\//.test(this.#text);
    return isBare ? "" : this.#url.pathname;
  }

  get query(): Readonly<Record<string, readonly string[]>> {
    const { searchParams } = this.#url;
    return Object.fromEntries([...new Set(searchParams.keys())].map((key) => [key, searchParams.getAll(key)]));
  }
}

function isUrl(text: string): boolean {
  try {
    return new Url(text).scheme !== undefined;
  } catch {
    return false;
  }
}

/** Adds `url()`, `isURL()` and the parts of URLs. Source: Kubernetes documentation, "Kubernetes URL library". */
export function addUrls(environment: Environment): Environment {
  return environment
    .registerType("Url", Url)
    .registerFunction("url(string): Url", (text: string) => new Url(text))
    .registerFunction("isURL(string): bool", isUrl)
    .registerFunction("Url.getScheme(): string", (url: Url) => url.scheme)
    .registerFunction("Url.getHost(): string", (url: Url) => url.host)
    .registerFunction("Url.getHostname(): string", (url: Url) => url.hostname)
    .registerFunction("Url.getPort(): string", (url: Url) => url.port)
    .registerFunction("Url.getEscapedPath(): string", (url: Url) => url.path)
    .registerFunction("Url.getQuery(): map<string, list<string>>", (url: Url) => url.query);
}
