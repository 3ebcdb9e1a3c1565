import java.io.*;
import java.net.URI;
import java.net.http.*;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.*;

/** Fetches an address over TLS, and trusts the authority in a file, or those of the system. */
public class Get {
    public static void main(String[] arguments) throws Exception {
        SSLContext context = arguments.length > 1 ? trusting(arguments[1]) : SSLContext.getDefault();
        HttpClient client = HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0])).build();
        System.out.print(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }

    static SSLContext trusting(String authority) throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (InputStream file = new FileInputStream(authority)) {
            trusted.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }
}
