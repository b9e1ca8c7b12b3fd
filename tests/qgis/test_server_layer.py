# SPDX-License-Identifier: GPL-2.0-or-later
"""A layer of a server that sends only its first features is not counted as if that were all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from qgis.core import QgsVectorLayer
from toolbox_case import Bench

pytestmark = pytest.mark.usefixtures("qgis_processing")

ALL, SENT = 1500, 1000
SPACES = (
    'xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:gml="http://www.opengis.net/gml/3.2" '
    'xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xsd="http://www.w3.org/2001/XMLSchema" '
    'xmlns:t="http://t" xmlns:fes="http://www.opengis.net/fes/2.0"'
)
CAPABILITIES = f"""<?xml version="1.0"?><wfs:WFS_Capabilities version="2.0.0" {SPACES}>
<wfs:FeatureTypeList><wfs:FeatureType><wfs:Name>t:spots</wfs:Name><wfs:Title>spots</wfs:Title>
<wfs:DefaultCRS>urn:ogc:def:crs:EPSG::32632</wfs:DefaultCRS></wfs:FeatureType>
</wfs:FeatureTypeList></wfs:WFS_Capabilities>"""
SCHEMA = f"""<?xml version="1.0"?><xsd:schema targetNamespace="http://t"
elementFormDefault="qualified" {SPACES}><xsd:complexType name="spotsType"><xsd:complexContent>
<xsd:extension base="gml:AbstractFeatureType"><xsd:sequence>
<xsd:element name="n" type="xsd:int"/><xsd:element name="geom" type="gml:PointPropertyType"/>
</xsd:sequence></xsd:extension></xsd:complexContent></xsd:complexType>
<xsd:element name="spots" type="t:spotsType"/></xsd:schema>"""


def features() -> str:
    rows = "".join(
        f'<wfs:member><t:spots gml:id="spots.{n}"><t:n>{n}</t:n><t:geom><gml:Point '
        f'srsName="urn:ogc:def:crs:EPSG::32632"><gml:pos>{500_000 + n} 5000000</gml:pos>'
        "</gml:Point></t:geom></t:spots></wfs:member>"
        for n in range(SENT)
    )
    head = f'wfs:FeatureCollection numberMatched="unknown" numberReturned="{SENT}" {SPACES}'
    return f'<?xml version="1.0"?><{head}>{rows}</wfs:FeatureCollection>'


class Handler(BaseHTTPRequestHandler):
    """A server of one layer that sends the first features only, without paging."""

    def do_GET(self) -> None:
        query = {
            key.upper(): value[0] for key, value in parse_qs(urlsplit(self.path).query).items()
        }
        replies = {"GetCapabilities": CAPABILITIES, "DescribeFeatureType": SCHEMA}
        body = (replies.get(query.get("REQUEST", "")) or features()).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep still."""


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/wfs"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_count_of_a_servers_layer_is_told_as_a_least_number_b46(
    tmp_path: Path, address: str
) -> None:
    source = f"url='{address}' typename='t:spots' version='2.0.0' srsname='EPSG:32632'"
    spots = QgsVectorLayer(source, "spots", "WFS")
    assert spots.isValid()
    found = Bench(tmp_path, spots).run("count", layer="spots", where='"n" >= 0')
    assert found.numbers["count"] == SENT < ALL
    assert "spots comes from a server, which may send only a part of its features" in found.text
