"""A real Chromium without a window, driven through chromedriver's HTTP interface on this machine."""

from __future__ import annotations

import base64
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from model_servers import free_port

ALONE = (
    "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-quic --hide-scrollbars"
)
START_SECONDS = 60.0


class Browser:
    """A session with one tab."""

    def __init__(self, folder: Path) -> None:
        driver, program = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")
        if driver is None or program is None:
            pytest.skip("no chromium and chromedriver here: apt-get install --no-install-recommends chromium chromium-driver")
        port = free_port()
        self._driver = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, start_new_session=True)
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120, trust_env=False)
        try:
            self._wait()
            options = {"binary": program, "args": [*ALONE.split(), f"--user-data-dir={folder}"]}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            self._session = ""
            self._session = f"/session/{self._ask('/session', {'capabilities': {'alwaysMatch': wanted}})['sessionId']}"
        except BaseException:
            self.close()
            raise

    def open(self, page: Path | str) -> None:
        """Load a file, or go to an address."""
        self._ask("/url", {"url": page.as_uri() if isinstance(page, Path) else page})

    def run(self, script: str) -> Any:
        """What a script of the test returns; the page itself runs none."""
        return self._ask("/execute/sync", {"script": f"return {script}", "args": []})

    def protocol(self, command: str, **parameters: Any) -> Mapping[str, Any]:
        """A command of the DevTools protocol."""
        result: Mapping[str, Any] = self._ask("/goog/cdp/execute", {"cmd": command, "params": parameters})
        return result

    def window(self, width: int, height: int, *, dark: bool = False) -> None:
        """The size of the window, and which colours the person prefers."""
        phone = width < 500
        self.protocol("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.protocol("Emulation.setEmulatedMedia", media="screen", features=[scheme])

    def press(self, *keys: str) -> None:
        """Keys, one after another."""
        for key in keys:
            code = {"Tab": 9, "Enter": 13}[key]
            text = {"text": "\r"} if key == "Enter" else {}
            self.protocol("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
            self.protocol("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(self.protocol("Page.captureScreenshot", format="png")["data"])

    def paper(self) -> bytes:
        """The page as PDF, as it is printed by a person whose windows are dark."""
        dark = {"name": "prefers-color-scheme", "value": "dark"}
        self.protocol("Emulation.setEmulatedMedia", media="", features=[dark])
        return base64.b64decode(self.protocol("Page.printToPDF", printBackground=True)["data"])

    def log(self) -> list[dict[str, Any]]:
        """What the console said since it was asked last."""
        entries: list[dict[str, Any]] = self._ask("/se/log", {"type": "browser"})
        return entries

    def close(self) -> None:
        """End the browser and its driver."""
        with suppress(httpx.HTTPError):
            if self._session:
                self._http.delete(self._session)
        self._http.close()
        with suppress(ProcessLookupError):
            os.killpg(self._driver.pid, signal.SIGKILL)
        self._driver.wait()

    def _ask(self, path: str, body: Mapping[str, Any]) -> Any:
        answer = self._http.post(self._session + path, json=body).json()["value"]
        if isinstance(answer, dict) and "error" in answer:
            pytest.fail(f"{path}: {answer['error']}: {answer['message']}")
        return answer

    def _wait(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            with suppress(httpx.HTTPError):
                if self._http.get("/status").json()["value"]["ready"]:
                    return
            time.sleep(0.1)
        pytest.fail("chromedriver did not start")
