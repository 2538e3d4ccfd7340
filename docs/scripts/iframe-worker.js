// Lets the search of the site run when its pages are opened from a folder: browsers start no worker there, so the
// worker's script runs in a hidden frame instead, which takes and gives messages in the same way.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><title>worker</title>";
      this.ready = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inside = frame.contentWindow;
          inside.postMessage = (data) => this.receive(data);
          inside.importScripts = (...urls) => Promise.all(urls.map((each) => load(inside, each)));
          load(inside, url).then(() => resolve(inside));
        }, { once: true });
      });
      document.body.append(frame);
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    receive(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }

    terminate() {
      this.ready.then((inside) => inside.frameElement.remove());
    }
  };
}

function load(inside, url) {
  return new Promise((resolve, reject) => {
    const script = inside.document.createElement("script");
    script.src = new URL(url, location.href).href;
    script.addEventListener("load", resolve);
    script.addEventListener("error", reject);
    inside.document.head.append(script);
  });
}
