#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn loopback_tcp() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"hello").unwrap());
        let mut text = String::new();
        TcpStream::connect(address).unwrap().read_to_string(&mut text).unwrap();
        server.join().unwrap();
        assert_eq!(text, "hello");
    }

    #[test]
    fn temporary_file() {
        let path = std::env::temp_dir().join(format!("suite-{}", std::process::id()));
        std::fs::write(&path, "kept").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn crate_of_a_registry() {
        assert_eq!(greeting::hello(), "hello");
    }
}
